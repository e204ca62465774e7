import type { KernelTools } from '../kernel/kernel-tools.js';
import type { ToolAccess } from '../viewer/protocol.js';

/** What the code of the notebook may call, and what a person sees of it and decides. */
export interface NotebookTools extends KernelTools {
  /** Null as long as there is nothing to call. */
  readonly access: ToolAccess | null;
  /** Called with each change. Answers with a function that removes the listener. */
  onAccess(listener: (access: ToolAccess | null) => void): () => void;
  /** A person takes the right away, or gives a new one. Rejects with a message for the person. */
  setAllowed(isAllowed: boolean): Promise<void>;
}
