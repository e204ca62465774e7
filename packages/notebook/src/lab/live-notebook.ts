import { isJsonObject } from '@notebridge/protocol/json';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { bringCellTo, bringTo } from '../host/bring-to.js';
import { mergeNotebooks } from '../host/merge.js';
import { within } from '../kernel/within.js';
import type { Actor, CellContent, Notebook } from '../model/cell.js';
import { createCellId } from '../model/cell-ids.js';
import { createDocument, type DocumentEvent, type DocumentLimits, type NotebookDocument } from '../model/document.js';
import { NotebookError } from '../model/errors.js';
import type { JupyterServer } from './jupyter-server.js';
import type { NotebookSource } from './notebook-source.js';
import { pause } from './pause.js';
import { Room } from './room.js';
import { isOnServer } from './server-contents.js';
import {
  applyToShared,
  bringShared,
  placeInRoom,
  readSharedCell,
  readSharedNotebook,
  type SharedCell,
  separateIds,
  sharedCellsOf,
  sharedMetaOf,
} from './shared-cells.js';
import type * as Y from './yjs.js';

export interface LiveNotebookOptions {
  server: JupyterServer;
  path: string;
  limits?: DocumentLimits | undefined;
}

/** The origin of our transactions. Lab's undo follows its own only, and so never takes back ours. */
const ours = { name: 'notebridge' };
const reconnectDelaysMs = [50, 200, 500, 1000, 2000, 5000, 10_000];
/** How long an edit waits for a lost room. */
const patienceMs = 5000;
const [renameAttempts, renameDelayMs] = [6, 500];
/** How long outputs of others' runs may wait: printing changes them a thousand times a second. */
const outputsDelayMs = 100;

/** A document that is equal to that of a collaboration room, both ways: an edit of either side is one of the other at once. */
export class LiveNotebook implements NotebookSource {
  readonly document: NotebookDocument;
  readonly #options: LiveNotebookOptions;
  #path: string;
  #room: Room | undefined;
  #lost = '';
  #returning: Promise<void> | undefined;
  #isFollowing = false;
  /** What both sides have for certain: the server has confirmed it. */
  #base: Notebook;
  #settling: Promise<void> | undefined;
  readonly #late = new Map<SharedCell, Actor>();
  #lateTimer: NodeJS.Timeout | undefined;
  #isThere: Promise<boolean> | undefined;
  readonly #stopListening: () => void;
  readonly #closed = new AbortController();

  private constructor(options: LiveNotebookOptions, room: Room) {
    this.#options = options;
    this.#path = options.path;
    room.document.transact(() => separateIds(room.document, newId), ours);
    this.document = createDocument(readSharedNotebook(room.document), options.limits);
    this.#base = this.document.toNotebook();
    this.#stopListening = this.document.onChange((event) => this.#share(event));
    this.#join(room);
  }

  /** Undefined where the server has no rooms for this file: it has no collaboration, or not the file. Rejects as `Room.open`. */
  static async open(options: LiveNotebookOptions): Promise<LiveNotebook | undefined> {
    const room = await Room.open(options.server, options.path);
    try {
      return room && new LiveNotebook(options, room);
    } catch (error) {
      // A notebook that is too large, or none.
      room?.close();
      throw error;
    }
  }

  get path(): string {
    return this.#path;
  }

  get isLive(): boolean {
    return this.#room !== undefined;
  }

  /** By the names that Lab shows. */
  get people(): string[] {
    return [...new Set([...(this.#room?.others.values() ?? [])].flatMap((state) => nameIn(state) ?? []))];
  }

  /** An edit waits a little for a lost room, and is then refused with `server_unreachable`. */
  async ready({ forEdit }: { forEdit: boolean }): Promise<void> {
    this.#followLate();
    if (!forEdit) return;
    if (!this.#room) await within(patienceMs, this.#returning ?? Promise.resolve());
    // With all that others have done until now: a cell that is moved or deleted takes along what is not here yet.
    if (!(await this.#room?.settle())) throw this.#away('Nothing was changed.');
    // Asked while the tool works; answered for in `settle`.
    this.#isThere = this.#isOnServer();
    this.#isThere.catch(() => {});
  }

  /** Rejects with `server_unreachable`. */
  async settle(): Promise<void> {
    await this.#settling;
    if (!this.#room) throw this.#away('The change is kept here, and joined with the notebook when the server is back.');
    if ((await this.#isThere) === false) throw this.#gone();
  }

  setRunning(cellId: string, isRunning: boolean): void {
    const { document } = this.#room ?? {};
    if (!document) return;
    const cells = sharedCellsOf(document);
    const at = placeInRoom(cells, cellId);
    if (at !== -1) document.transact(() => cells.get(at).set('execution_state', isRunning ? 'running' : 'idle'), ours);
  }

  async close(): Promise<void> {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort();
    this.#stopListening();
    clearTimeout(this.#lateTimer);
    await within(patienceMs, this.#settling ?? Promise.resolve());
    const room = this.#room;
    this.#room = undefined;
    room?.close();
    await room?.closed;
    await within(patienceMs, this.#returning ?? Promise.resolve());
  }

  #join(room: Room): void {
    this.#room = room;
    this.#lost = '';
    const { document } = room;
    sharedCellsOf(document).observeDeep((events, transaction) => this.#follow(room, events, transaction));
    sharedMetaOf(document).observeDeep((_events, transaction) => this.#followMetadata(room, transaction));
    const state = document.getMap('state');
    state.observe(() => this.#learnPath(state.get('path')));
    this.#learnPath(state.get('path'));
    room.introduce({ user: { username: 'notebridge', name: 'Notebridge', display_name: 'Notebridge', initials: 'NB', color: '#0b7285' } });
    void room.closed.then((said) => this.#onLost(room, said));
  }

  /** Ours to theirs. */
  #share(event: DocumentEvent): void {
    if (this.#isFollowing || !this.#room) return;
    const { document } = this.#room;
    document.transact(() => applyToShared(document, event), ours);
    this.#confirm();
  }

  #confirm(): void {
    this.#settling ??= this.#settle().finally(() => {
      this.#settling = undefined;
    });
  }

  /** Until nothing has changed while the server answered. */
  async #settle(): Promise<void> {
    for (let version = -1; version !== this.document.version && this.#room; ) {
      version = this.document.version;
      const sent = this.document.toNotebook();
      if (await this.#room.settle()) this.#base = sent;
    }
  }

  /** Theirs to ours. */
  #follow(room: Room, events: readonly Y.YEvent<Y.AbstractType<unknown>>[], transaction: Y.Transaction): void {
    if (transaction.origin === ours || room !== this.#room) return;
    const cells = sharedCellsOf(room.document);
    const by = actorOf(room, transaction);
    const touched = new Set<SharedCell>();
    let isReordered = false;
    for (const event of events) {
      const cell = cellOf(event.target, cells);
      if (!cell) isReordered = true;
      else if (isAboutRun(event, cell)) this.#late.set(cell, by);
      else touched.add(cell);
    }
    if (isReordered) {
      // Ids in the room may be changed here, and that in a transaction of its own.
      const hasDoubles = new Set(cells.map((cell) => cell.get('id'))).size < cells.length;
      if (hasDoubles) room.document.transact(() => separateIds(room.document, newId), ours);
      this.#followLate();
      this.#following(() => bringTo(this.document, this.#target(room, touched), by));
    } else this.#following(() => touched.forEach((cell) => void this.#bringCell(cell, by)));
    if (this.#late.size > 0) this.#lateTimer ??= setTimeout(() => this.#followLate(), outputsDelayMs);
    if (!this.#settling) this.#base = this.document.toNotebook();
  }

  /** The notebook as the room has it; cells that nobody touched are taken from our document, which is quicker. */
  #target(room: Room, touched: ReadonlySet<SharedCell>): Notebook {
    const known = new Map<string, CellContent>(this.document.cells.map((cell) => [cell.id, cell]));
    const cells = sharedCellsOf(room.document).map((cell) => {
      const same = touched.has(cell) ? undefined : known.get(String(cell.get('id')));
      // A cell that was moved is a new one, and what was typed into it before may not be ours yet.
      return same && String(cell.get('source')) === same.source && cell.get('cell_type') === same.type ? same : readSharedCell(cell);
    });
    return { ...this.document.toNotebook(), cells };
  }

  #followLate(): void {
    clearTimeout(this.#lateTimer);
    this.#lateTimer = undefined;
    const late = [...this.#late];
    this.#late.clear();
    this.#following(() => late.forEach(([cell, by]) => void this.#bringCell(cell, by)));
    if (late.length > 0 && !this.#settling) this.#base = this.document.toNotebook();
  }

  #bringCell(cell: SharedCell, by: Actor): void {
    // Deleted since.
    if (cell.doc === null || cell._item?.deleted) return;
    bringCellTo(this.document, readSharedCell(cell), by);
  }

  #followMetadata(room: Room, transaction: Y.Transaction): void {
    if (transaction.origin === ours || room !== this.#room) return;
    const target = { ...this.document.toNotebook(), ...readSharedMeta(room.document) };
    this.#following(() => bringTo(this.document, target, actorOf(room, transaction)));
  }

  #following(change: () => void): void {
    this.#isFollowing = true;
    try {
      change();
    } finally {
      this.#isFollowing = false;
    }
  }

  #learnPath(path: unknown): void {
    if (typeof path === 'string' && path !== '') this.#path = path;
  }

  #onLost(room: Room, said: string): void {
    if (room !== this.#room) return;
    this.#room = undefined;
    this.#late.clear();
    this.#lost = said;
    if (!this.#closed.signal.aborted) this.#returning = this.#return();
  }

  /** Always into the room of today, with a document that is new. */
  async #return(): Promise<void> {
    const { server } = this.#options;
    for (let attempt = 0; !this.#closed.signal.aborted; attempt++) {
      await pause(reconnectDelaysMs[Math.min(attempt, reconnectDelaysMs.length - 1)] ?? 0, this.#closed.signal);
      if (this.#closed.signal.aborted) return;
      try {
        const room = await Room.open(server, this.#path);
        if (!room) throw new NotebookError('no_notebook', `The server has no notebook "${this.#path}" any more.`);
        if (this.#closed.signal.aborted) return room.close();
        this.#rejoin(room);
        return;
      } catch (error) {
        this.#lost = messageOf(error);
      }
    }
  }

  /** What changed on both sides meanwhile is joined; where both changed the same, the room's stays. */
  #rejoin(room: Room): void {
    room.document.transact(() => separateIds(room.document, newId), ours);
    const theirs = readSharedNotebook(room.document);
    const { notebook } = mergeNotebooks(this.#base, this.document.toNotebook(), theirs, 'theirs');
    this.#following(() => bringTo(this.document, notebook, { kind: 'person', name: 'JupyterLab' }));
    room.document.transact(() => bringShared(room.document, notebook), ours);
    this.#join(room);
    this.#confirm();
  }

  /** A room goes on without its file, and saves nothing. It learns of a new name within a second or two. */
  async #isOnServer(): Promise<boolean> {
    for (let attempt = 0; attempt < renameAttempts; attempt++) {
      if (attempt > 0) await pause(renameDelayMs, this.#closed.signal);
      if (await isOnServer(this.#options.server, this.#path)) return true;
    }
    return false;
  }

  #gone(): NotebookError {
    const message = `The notebook "${this.#path}" was deleted on ${this.#options.server.name}. Open tabs show the change, and it is saved nowhere. Save it under another name in JupyterLab, or call connect_notebook for another notebook.`;
    return new NotebookError('no_notebook', message, { data: { path: this.#path } });
  }

  #away(what: string): NotebookError {
    const message = `The notebook "${this.#path}" is not connected with ${this.#options.server.name} (${this.#lost}); it is being tried again. ${what}`;
    return new NotebookError('server_unreachable', message, { data: { path: this.#path } });
  }
}

function readSharedMeta(document: Y.Doc): Pick<Notebook, 'metadata'> {
  const metadata = sharedMetaOf(document).toJSON().metadata;
  return { metadata: isJsonObject(metadata) ? metadata : {} };
}

/** The cell of the room that a part belongs to; undefined for the list of cells. */
function cellOf(target: Y.AbstractType<unknown>, cells: Y.Array<SharedCell>): SharedCell | undefined {
  for (let part: Y.AbstractType<unknown> | null = target; part; part = part.parent)
    if (part.parent === (cells as unknown)) return part as unknown as SharedCell;
  return undefined;
}

const runKeys = new Set(['outputs', 'execution_count', 'execution_state']);

function isAboutRun(event: Y.YEvent<Y.AbstractType<unknown>>, cell: SharedCell): boolean {
  if (event.target === (cell as unknown)) return [...event.changes.keys.keys()].every((key) => runKeys.has(key));
  const [, key] = event.path;
  return typeof key === 'string' && runKeys.has(key);
}

/** Whoever has written something in it. What only deletes names nobody: then it is whoever is there. */
function actorOf(room: Room, { beforeState, afterState }: Y.Transaction): Actor {
  const writers = [...afterState].filter(([client, clock]) => clock > (beforeState.get(client) ?? 0)).map(([client]) => client);
  const names = writers.flatMap((client) => nameIn(room.others.get(client)) ?? []);
  const present = writers.length === 0 ? [...room.others.values()].flatMap((state) => nameIn(state) ?? []) : [];
  return { kind: 'person', name: names[0] ?? (present.length === 1 ? (present[0] ?? '') : 'JupyterLab') };
}

function nameIn(state: unknown): string | undefined {
  const user = isJsonObject(state) && isJsonObject(state.user) ? state.user : {};
  const name = user.display_name ?? user.name ?? user.username;
  return typeof name === 'string' && name !== '' ? name.slice(0, 80) : undefined;
}

function newId(): string {
  return createCellId(() => false);
}
