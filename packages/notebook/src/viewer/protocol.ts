import type { OpenQuestion } from '../input-questions.js';
import type { KernelInfo, KernelState } from '../kernel/kernel.js';
import type { Layer } from '../kernel/layers.js';
import type { KernelChoice, KernelOffer } from '../kernels/kernel-choice.js';
import type { Actor, CellContent, CellType } from '../model/cell.js';
import type { JournalEntry } from '../model/journal.js';
import type { Change, DocumentState } from '../model/operation.js';
import type { Run } from '../run-queue.js';
import type { SessionEvent } from '../session.js';

/**
 * What a window and the session's host say to each other: JSON messages over one WebSocket. The document, the kernel and the
 * file live with the host; a window holds a replica, so that two windows on one notebook agree and a reload loses nothing.
 */

/** How the notebook's file stands. */
export type FileState =
  | { readonly kind: 'saved' | 'saving' | 'unsaved' }
  /** There is no file: a scratch notebook in memory. */
  | { readonly kind: 'none' }
  /** The file was changed or removed by somebody else while there were changes here: a person decides. */
  | { readonly kind: 'conflict'; readonly found: 'changed' | 'removed' | 'invalid'; readonly detail: string }
  | { readonly kind: 'failed'; readonly detail: string };

/** An agent that is connected. */
export interface ConnectedAgent {
  readonly id: string;
  readonly name: string;
}

/** What code in the notebook may call: tools of MCP servers, by a grant of its own. */
export interface ToolAccess {
  /** Those that the grant reaches. `tools` is missing until a server was asked. */
  readonly servers: readonly { readonly name: string; readonly tools?: number }[];
  /** False: the right was taken away. */
  readonly allowed: boolean;
  /** The id of the grant, or of the last one; the audit records the calls under it. */
  readonly grant: string;
}

/** Everything that a window needs to begin, or to begin anew. */
export interface Hello {
  readonly type: 'hello';
  readonly title: string;
  readonly document: DocumentState;
  readonly kernel: KernelInfo & { readonly state: KernelState; readonly layers?: readonly Layer[] };
  /** Null: the kernel is what the host was given, and there is nothing to choose. */
  readonly choice: KernelChoice | null;
  readonly running: Run | null;
  readonly queued: readonly Run[];
  /** What code asks and nobody has answered, oldest first. */
  readonly questions: readonly OpenQuestion[];
  readonly journal: readonly JournalEntry[];
  readonly agents: readonly ConnectedAgent[];
  /** Null: code has nothing to call. */
  readonly tools: ToolAccess | null;
  readonly file: FileState;
  readonly readOnly: boolean;
}

/** From the host to a window. */
export type HostMessage =
  | Hello
  | { readonly type: 'change'; readonly change: Change }
  | { readonly type: 'session'; readonly event: SessionEvent }
  | { readonly type: 'journal'; readonly journal: readonly JournalEntry[] }
  | { readonly type: 'agents'; readonly agents: readonly ConnectedAgent[] }
  | { readonly type: 'tools'; readonly tools: ToolAccess | null }
  | { readonly type: 'file'; readonly file: FileState }
  | { readonly type: 'choice'; readonly choice: KernelChoice }
  /** Answers the request of the same id. An error is for the person: its message says what to do. */
  | { readonly type: 'done'; readonly id: number; readonly value?: unknown }
  | { readonly type: 'failed'; readonly id: number; readonly code: string; readonly message: string };

/** What a cut or copied cell keeps besides its type and source. */
export type PastedContent = Partial<Pick<CellContent, 'metadata' | 'attachments' | 'outputs' | 'executionCount'>>;

/** The `value` of `done` for an action that makes a cell: the window selects it. The change itself was sent before. */
export interface InsertedCell {
  readonly cellId: string;
}

/** The `value` of `done` for `listKernels`. */
export interface KernelList {
  readonly kernels: readonly KernelOffer[];
}

/** The `value` of `done` for a `useKernel` that waits for an answer: the kernel is a program of a folder that is not trusted yet. */
export interface KernelAsks {
  readonly question: string;
  readonly folder: string;
}

/** What a person asks for. Refused edits leave the document as it is. */
export type ViewerAction =
  /** Answered with `InsertedCell`. `more` is what a pasted cell brings along. */
  | {
      readonly do: 'insert';
      readonly index: number;
      readonly cellType: CellType;
      readonly source: string;
      readonly more?: PastedContent;
    }
  | { readonly do: 'update'; readonly cellId: string; readonly source: string; readonly expectedRev?: number }
  | { readonly do: 'move'; readonly cellId: string; readonly index: number }
  | { readonly do: 'delete'; readonly cellId: string }
  | { readonly do: 'setType'; readonly cellId: string; readonly cellType: CellType }
  | { readonly do: 'clearOutputs'; readonly cellId: string }
  /** Puts the cell back that this window deleted last. Answered with `InsertedCell`; fails with `nothing_to_undo`. */
  | { readonly do: 'undoDelete' }
  | { readonly do: 'run'; readonly cellId: string }
  /** Answers a question of the code; null refuses. Fails with `no_question`. */
  | { readonly do: 'answerInput'; readonly questionId: number; readonly text: string | null }
  | { readonly do: 'stop' | 'interrupt' | 'restart' | 'save' }
  /** Takes an agent's change back. */
  | { readonly do: 'undo'; readonly entryId: number }
  | { readonly do: 'disconnectAgent'; readonly agentId: string }
  | { readonly do: 'setReadOnly'; readonly readOnly: boolean }
  /** Whether code may call tools. */
  | { readonly do: 'setToolAccess'; readonly allowed: boolean }
  /** Answered with `KernelList`. */
  | { readonly do: 'listKernels' }
  /**
   * Puts another kernel in, as a restart does. Answered with `{ asks: KernelAsks }` where the person has to trust a folder first
   * (`trustFolder`). Fails with `unknown_kernel`, `kernel_unusable` or `kernel_failed`.
   */
  | { readonly do: 'useKernel'; readonly id: string }
  /** Answers the question of the proposal; with yes, its folder is trusted and its kernel put in. With `folder` only if it is still of that one. */
  | { readonly do: 'trustFolder'; readonly yes: boolean; readonly folder?: string }
  | { readonly do: 'resolveConflict'; readonly keep: 'mine' | 'theirs' };

/** From a window to the host. */
export interface ViewerMessage {
  readonly type: 'request';
  readonly id: number;
  readonly action: ViewerAction;
}

/** Who edits in a window. */
export const person: Actor = { kind: 'person', name: 'You' };
