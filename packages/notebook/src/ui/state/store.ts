import { Listeners } from '@notebridge/protocol/util/listeners';
import type { Actor, Cell } from '../../model/cell.js';
import { createReplica, type DocumentEvent, type NotebookDocument } from '../../model/document.js';
import type { JournalEntry } from '../../model/journal.js';
import type { OpenQuestion } from '../../session/input-questions.js';
import type { Run, RunStatus } from '../../session/run-queue.js';
import type { SessionEvent } from '../../session/session.js';
import type { ConnectedAgent, FileState, Hello, HostMessage, LeaseState, ToolAccess } from '../../viewer/protocol.js';
import type { LinkState } from '../link/connection.js';

export type StoreEvent =
  /** Everything may be different: the first hello, or one after a lost connection. */
  | { readonly type: 'reset' }
  | ({ readonly type: 'cell' } & DocumentEvent)
  | { readonly type: 'run'; readonly run: Run }
  | { readonly type: 'finished'; readonly run: Run; readonly status: RunStatus }
  | { readonly type: 'acted'; readonly what: 'stopped' | 'interrupted' | 'restarted'; readonly by: Actor }
  /** The code of a cell asks something, or does not any more. */
  | { readonly type: 'question'; readonly cellId: string; readonly question: OpenQuestion | undefined }
  | { readonly type: 'kernel' | 'choice' | 'journal' | 'agents' | 'lease' | 'tools' | 'file' | 'readOnly' | 'link' };

/** All that the window shows, as the host sent it. Only the host's messages change it. */
export class Store {
  readonly #listeners = new Listeners<StoreEvent>();
  readonly #beginAnew: () => void;
  document: NotebookDocument = createReplica({ version: 0, minor: 5, metadata: {}, cells: [] });
  running: Run | undefined;
  #queued: readonly Run[] = [];
  #durations = new Map<string, number>();
  title = '';
  kernel: Hello['kernel'] = { state: 'starting', name: '', displayName: '', language: '', version: '' };
  choice: Hello['choice'] = null;
  #questions: readonly OpenQuestion[] = [];
  journal: readonly JournalEntry[] = [];
  agents: readonly ConnectedAgent[] = [];
  lease: LeaseState | null = null;
  tools: ToolAccess | null = null;
  file: FileState = { kind: 'saved' };
  /** Of the notebook's file; null: it has none. */
  path: string | null = null;
  /** Which opening of the notebook this is. Empty before the first hello. */
  life = '';
  isReadOnly = false;
  /** The name under which this window acts. */
  you = '';
  link: LinkState = { kind: 'connecting' };

  /** `beginAnew` is called when a change was missed, which no order of messages should bring about. */
  constructor(beginAnew: () => void) {
    this.#beginAnew = beginAnew;
  }

  get cells(): readonly Cell[] {
    return this.document.cells;
  }

  /** Returns the unsubscribe function. */
  on(listener: (event: StoreEvent) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Shows something now, and again after each event of these types. Returns a function that ends it. */
  follow(types: readonly StoreEvent['type'][], show: () => void): () => void {
    show();
    return this.on(({ type }) => {
      if (types.includes(type)) show();
    });
  }

  indexOf(cellId: string): number {
    return this.cells.findIndex(({ id }) => id === cellId);
  }

  runOf(cellId: string): Run | undefined {
    return this.running?.cellId === cellId ? this.running : this.#queued.find((run) => run.cellId === cellId);
  }

  /** What the code of a cell asks. */
  questionOf(cellId: string): OpenQuestion | undefined {
    return this.#questions.find(({ run }) => run.cellId === cellId);
  }

  /** How long the last run of a cell took. Milliseconds. */
  durationOf(cellId: string): number | undefined {
    return this.#durations.get(cellId);
  }

  /** Code has run since the notebook was opened. */
  get hasRun(): boolean {
    return this.running !== undefined || this.#durations.size > 0;
  }

  /** Why nothing can be asked for at the moment, as a person shall read it. */
  get offReason(): string | undefined {
    if (this.link.kind === 'open') return undefined;
    return this.link.kind === 'ended' ? 'The notebook was closed' : 'The notebook is not connected';
  }

  setLink(link: LinkState): void {
    this.link = link;
    this.#listeners.emit({ type: 'link' });
  }

  receive(message: HostMessage): void {
    switch (message.type) {
      case 'hello':
        return this.#reset(message);
      case 'change':
        return this.#apply(message.change);
      case 'session':
        return this.#onEvent(message.event);
      case 'journal':
      case 'agents':
      case 'lease':
      case 'tools':
      case 'choice':
      case 'file': {
        const { type, ...told } = message;
        Object.assign(this, told);
        return this.#listeners.emit({ type });
      }
    }
  }

  #reset(hello: Hello): void {
    const { document, title, kernel, choice, running, queued, questions, journal, agents, tools, file, readOnly, durations, now } = hello;
    const { you, path, life, lease = null } = hello;
    this.document = createReplica(document);
    this.document.onChange((event) => this.#listeners.emit({ type: 'cell', ...event }));
    Object.assign(this, { title, kernel, choice, journal, agents, lease, tools, file, isReadOnly: readOnly, you, path, life });
    // By the clock of this window, which may be another one.
    const late = Date.now() - now;
    this.running = running ? { ...running, startedAt: (running.startedAt ?? now) + late } : undefined;
    this.#durations = new Map(Object.entries(durations));
    this.#queued = queued;
    this.#questions = questions;
    this.#listeners.emit({ type: 'reset' });
  }

  #apply(change: DocumentEvent['change']): void {
    try {
      this.document.apply(change);
    } catch {
      this.#beginAnew();
    }
  }

  #onEvent(event: SessionEvent): void {
    switch (event.type) {
      case 'queued':
        this.#queued = [...this.#queued, event.run];
        return this.#listeners.emit({ type: 'run', run: event.run });
      case 'started':
        this.#queued = this.#queued.filter(({ id }) => id !== event.run.id);
        this.running = { ...event.run, startedAt: Date.now() };
        this.#durations.delete(event.run.cellId);
        return this.#listeners.emit({ type: 'run', run: event.run });
      case 'finished':
        this.#queued = this.#queued.filter(({ id }) => id !== event.run.id);
        if (this.running?.id === event.run.id) this.running = undefined;
        if (event.durationMs !== undefined) this.#durations.set(event.run.cellId, event.durationMs);
        return this.#listeners.emit({ type: 'finished', run: event.run, status: event.status });
      case 'input':
        this.#questions = [...this.#questions, event.question];
        return this.#listeners.emit({ type: 'question', cellId: event.question.run.cellId, question: event.question });
      case 'inputEnded': {
        const ended = this.#questions.find(({ id }) => id === event.questionId);
        this.#questions = this.#questions.filter((each) => each !== ended);
        if (ended) this.#listeners.emit({ type: 'question', cellId: ended.run.cellId, question: undefined });
        return;
      }
      case 'kernel':
        this.kernel = { ...event.info, ...(event.layers ? { layers: event.layers } : {}), state: event.state };
        return this.#listeners.emit({ type: 'kernel' });
      case 'readOnly':
        this.isReadOnly = event.readOnly;
        return this.#listeners.emit({ type: 'readOnly' });
      default:
        return this.#listeners.emit({ type: 'acted', what: event.type, by: event.by });
    }
  }
}
