import type { KernelInfo, KernelState } from '../kernel/kernel.js';
import type { Layer } from '../kernel/layers.js';
import type { KernelChoice, KernelOffer } from '../kernels/kernel-choice.js';
import type { Actor } from '../model/cell.js';
import type { JournalEntry } from '../model/journal.js';
import type { Change, DocumentState } from '../model/operation.js';
import type { MimeBundle } from '../model/output.js';
import type { OpenQuestion } from '../session/input-questions.js';
import type { Run, RunStatus } from '../session/run-queue.js';
import type { SessionEvent } from '../session/session.js';
import type { ViewerAction } from './actions.js';
import type { WidgetNews } from './widgets.js';

export type { PastedCell, SourceUpdate, ViewerAction } from './actions.js';

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
