import type { KernelInfo, KernelState } from '../kernel/kernel.js';
import type { Layer } from '../kernel/layers.js';
import type { KernelChoice, KernelOffer } from '../kernels/kernel-choice.js';
import type { Actor, CellContent, CellType } from '../model/cell.js';
import type { JournalEntry } from '../model/journal.js';
import type { Change, DocumentState } from '../model/operation.js';
import type { MimeBundle } from '../model/output.js';
import type { ElicitationAnswer } from '../session/elicitation.js';
import type { OpenQuestion } from '../session/input-questions.js';
import type { Run, RunStatus } from '../session/run-queue.js';
import type { SessionEvent } from '../session/session.js';
import type { WidgetNews } from './widgets.js';

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

/** Why the file does not have what the notebook has, where nothing but a person changes that; undefined where it has, or will in a moment. */
export function whyUnsaved(state: FileState): string | undefined {
  return state.kind === 'conflict' || state.kind === 'failed' ? state.detail : undefined;
}

/** An agent that is connected. */
export interface ConnectedAgent {
  readonly id: string;
  readonly name: string;
}

/** Which agent changes and runs, and who asks to. */
export interface LeaseState {
  /** `since`: milliseconds since 1970. */
  readonly holder: { readonly id: string; readonly name: string; readonly since: number } | null;
  /** Oldest first. `id` is that of the agent. */
  readonly asking: readonly { readonly questionId: number; readonly id: string; readonly name: string; readonly reason?: string }[];
  /** Ids of agents that only look, since a person has taken the notebook away from them. */
  readonly barred: readonly string[];
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
  /** Null: its agents are not kept apart. Default null. */
  readonly lease?: LeaseState | null;
  /** Null: code has nothing to call. */
  readonly tools: ToolAccess | null;
  readonly file: FileState;
  /** Of the file, with links resolved; null: there is none. */
  readonly path: string | null;
  /** Another one for each time that the notebook is opened: names of windows begin anew with it. */
  readonly life: string;
  readonly readOnly: boolean;
  /** The name under which this window acts: what others do has another one. */
  readonly you: string;
  /** How long the last run of a cell took, in milliseconds, by the cell's id; of runs since the notebook was opened. */
  readonly durations: { readonly [cellId: string]: number };
  /** The host's clock, for runs that are going on. Milliseconds since 1970. */
  readonly now: number;
  /** Scripts in outputs may run, apart from everything. Default false. */
  readonly outputsTrusted?: boolean;
  /** Cells whose outputs are of runs of this session: their scripts may run, apart from everything, without a person's word. Default: none. */
  readonly ranHere?: readonly string[];
}

/** From the host to a window. */
export type HostMessage =
  | Hello
  | { readonly type: 'change'; readonly change: Change }
  | { readonly type: 'session'; readonly event: SessionEvent }
  | { readonly type: 'journal'; readonly journal: readonly JournalEntry[] }
  | { readonly type: 'agents'; readonly agents: readonly ConnectedAgent[] }
  | { readonly type: 'lease'; readonly lease: LeaseState }
  | { readonly type: 'tools'; readonly tools: ToolAccess | null }
  | { readonly type: 'file'; readonly file: FileState }
  | { readonly type: 'choice'; readonly choice: KernelChoice }
  | { readonly type: 'outputsTrusted'; readonly outputsTrusted: boolean }
  | { readonly type: 'ranHere'; readonly ranHere: readonly string[] }
  /** Asks for a picture of what an output shows in a page of its own: `drawn` of this id answers. */
  | { readonly type: 'draw'; readonly id: number; readonly cellId: string; readonly index: number }
  /** Of widgets that the window has opened. */
  | { readonly type: 'widgets'; readonly news: readonly WidgetNews[] }
  /** Answers the request of the same id. An error is for the person: its message says what to do. */
  | { readonly type: 'done'; readonly id: number; readonly value?: unknown }
  | { readonly type: 'failed'; readonly id: number; readonly code: string; readonly message: string };

/** A cut or copied cell, with all that a cell keeps when it is put somewhere else. */
export type PastedCell = { readonly cellType: CellType; readonly source: string } & Partial<
  Pick<CellContent, 'metadata' | 'attachments' | 'outputs' | 'executionCount'>
>;

/** The `value` of `done` for an action that makes a cell: the window selects it. The change itself was sent before. */
export interface InsertedCell {
  readonly cellId: string;
}

/** The `value` of `done` for `listKernels`. */
export interface KernelList {
  readonly kernels: readonly KernelOffer[];
}

/** The same for several, in their order. */
export interface InsertedCells {
  readonly cellIds: readonly string[];
}

/** One of several sources that change at once. */
export interface SourceUpdate {
  readonly cellId: string;
  readonly source: string;
  readonly expectedRev: number;
}

/** The `value` of `done` for `runAll`: how the last cell that ran has ended. */
export interface RanCells {
  readonly status: RunStatus;
  /** The cell at which it ended too early. */
  readonly failedId?: string;
}

/** The `value` of `done` for `inspect`; null where nothing is known. */
export type Inspected = MimeBundle | null;

/** A notebook in the folder of this one. */
export interface NearbyNotebook {
  /** From the folder on, with `/`. */
  readonly path: string;
  /** This one. */
  readonly isOpen: boolean;
}

/** The `value` of `done` for `readImage`. */
export interface BesideImage {
  /** Told by its bytes. */
  readonly type: string;
  /** Base64. */
  readonly data: string;
}

/** What a person asks for. Refused edits leave the document as it is. */
export type ViewerAction =
  /** Answered with `InsertedCell`. */
  | { readonly do: 'insert'; readonly index: number; readonly cellType: CellType; readonly source: string }
  /** Answered with `InsertedCells`. */
  | { readonly do: 'paste'; readonly index: number; readonly cells: readonly PastedCell[] }
  | { readonly do: 'update'; readonly cellId: string; readonly source: string; readonly expectedRev?: number }
  | { readonly do: 'move'; readonly cellId: string; readonly index: number }
  /** All or, if one of them has another revision by now, none. */
  | { readonly do: 'updateAll'; readonly updates: readonly SourceUpdate[] }
  | { readonly do: 'delete'; readonly cellIds: readonly string[] }
  /** Two cells of one: the text before `at` (UTF-16 units) goes into a new cell above; outputs stay with the rest. `InsertedCell`. */
  | { readonly do: 'split'; readonly cellId: string; readonly at: number; readonly expectedRev: number }
  /** One cell of several: the first one, of the type of the first, without outputs. */
  | { readonly do: 'merge'; readonly cellIds: readonly string[] }
  | { readonly do: 'setType'; readonly cellId: string; readonly cellType: CellType }
  | { readonly do: 'clearOutputs'; readonly cellId: string }
  /** Takes back the last step on cells, of this window (not runs, and not typing) or of an agent. Answered with `InsertedCell`; fails with `nothing_to_undo`. */
  | { readonly do: 'undoStep' }
  | { readonly do: 'run'; readonly cellId: string }
  /** Code cells `from` … `to`, both included, in their order; without them the first and the last. Ends at the first that fails. `RanCells`. */
  | { readonly do: 'runAll'; readonly from?: string; readonly to?: string; readonly restart?: boolean }
  /** Answered with `Completions`. */
  | { readonly do: 'complete'; readonly code: string; readonly position: number }
  /** Answered with `Inspected`. */
  | { readonly do: 'inspect'; readonly code: string; readonly position: number; readonly detail: 0 | 1 }
  /** Answered with a list of `NearbyNotebook`. */
  | { readonly do: 'listNotebooks' }
  /** Opens another notebook of the folder, or makes one. Answered with `{ url }`, which opens one window. */
  | { readonly do: 'openNotebook'; readonly path: string; readonly isNew: boolean }
  /** Answers a question of the code; null refuses. Fails with `no_question`. */
  | { readonly do: 'answerInput'; readonly questionId: number; readonly text: string | null }
  /** Answers what a server asks in a call of the code. Fails with `no_question`, and `bad_arguments` for what the form does not ask for. */
  | { readonly do: 'answerElicitation'; readonly questionId: number; readonly answer: ElicitationAnswer }
  | { readonly do: 'stop' | 'interrupt' | 'restart' | 'save' }
  /** Takes an agent's change back. */
  | { readonly do: 'undo'; readonly entryId: number }
  | { readonly do: 'disconnectAgent'; readonly agentId: string }
  /** Whether an agent that asks for the notebook gets it. Fails with `no_question`. */
  | { readonly do: 'answerTakeOver'; readonly questionId: number; readonly yes: boolean }
  /** Takes the notebook away from an agent, which only looks from then on, or lets it write again. */
  | { readonly do: 'setMayHold'; readonly agentId: string; readonly may: boolean }
  | { readonly do: 'setReadOnly'; readonly readOnly: boolean }
  /** Whether code may call tools. */
  | { readonly do: 'setToolAccess'; readonly allowed: boolean }
  /** Answered with `KernelList`. */
  | { readonly do: 'listKernels' }
  /**
   * Puts another kernel in, as a restart does. Answered with `{ asks: KernelAsks }` where the person has to trust a folder first, as the list
   * said (`trustFolder`). Fails with `unknown_kernel`, `kernel_unusable` or `kernel_failed`.
   */
  | { readonly do: 'useKernel'; readonly id: string }
  /** Answers the question of the proposal; with yes, its folder, if it has one, is trusted and its kernel put in. With `id` or `folder` only if it is still of that one. */
  | { readonly do: 'trustFolder'; readonly yes: boolean; readonly id?: string; readonly folder?: string }
  /** Answers what `KernelChoice.mayAllow` offers; a yes restarts the kernel. Fails with `bad_request` for what is not offered any more. */
  | { readonly do: 'allow'; readonly what: string; readonly yes: boolean }
  /** An image below the notebook's folder, by its path from there. Answered with `BesideImage`. */
  | { readonly do: 'readImage'; readonly path: string }
  /** A library that a package of the kernel's Python brings, by the address at which a page looks for it. Answered with base64. */
  | { readonly do: 'readLibrary'; readonly address: string }
  /** A page that an output names, by its path. Answered with base64. */
  | { readonly do: 'readPage'; readonly path: string }
  /** The picture that a `draw` asked for, as the `data:` address of a PNG; null where there is none. */
  | { readonly do: 'drawn'; readonly id: number; readonly picture: string | null }
  /** Whether scripts in outputs may run, apart from everything. */
  | { readonly do: 'trustOutputs'; readonly trusted: boolean }
  /** Answered with `FoundWidget`. */
  | { readonly do: 'findWidget'; readonly modelId: string }
  /** Answered with `OpenedWidget`. */
  | { readonly do: 'openWidget'; readonly modelId: string }
  /** What a person did with a widget of this cell, as Jupyter's `comm_msg` has it. Done when the kernel has dealt with it. */
  | {
      readonly do: 'callWidget';
      readonly commId: string;
      readonly cellId: string;
      readonly data: { readonly [key: string]: unknown };
      readonly buffers: readonly string[];
    }
  | { readonly do: 'resolveConflict'; readonly keep: 'mine' | 'theirs' };

/** From a window to the host. */
export interface ViewerMessage {
  readonly type: 'request';
  readonly id: number;
  readonly action: ViewerAction;
}

/** Who edits in the window of this number, as agents and other windows are told. */
export function personAt(window: number): Actor {
  return { kind: 'person', name: `a person (window ${window})` };
}

/** Such a name. */
export function isWindowName(name: string): boolean {
  return /^a person \(window \d+\)$/.test(name);
}
