import type { KernelTools } from '../kernel/kernel-tools.js';
import type { ToolAccess } from '../viewer/protocol.js';

/** What the code of the notebook may call, and what a person sees and decides about it. */
export interface NotebookTools extends KernelTools {
  /** Null as long as there is nothing to call. */
  readonly access: ToolAccess | null;
  /** Called with each change. Returns the unsubscribe function. */
  onAccess(listener: (access: ToolAccess | null) => void): () => void;
  /** A person takes the right away, or gives a new one. Rejects with a message for the person. */
  setAllowed(isAllowed: boolean): Promise<void>;
}
