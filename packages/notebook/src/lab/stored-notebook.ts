import type { Logger } from '@notebridge/protocol/util/logger';
import { appendAll } from '@notebridge/protocol/util/long-lists';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { fileNote } from '../host/file-texts.js';
import { type KeptCellIds, keepLackingIds } from '../host/kept-files.js';
import { isSameCell } from '../host/merge.js';
import { isSameNotebook, SyncedNotebook } from '../host/synced-notebook.js';
import type { Notebook } from '../model/cell.js';
import type { NotebookDocument } from '../model/document.js';
import { NotebookError } from '../model/errors.js';
import type { NotebookSource } from './notebook-source.js';
import { readServerFile, readStamp, type ServerFile, type ServerPlace, type Stamp, writeServerFile } from './server-file.js';

export interface StoredNotebookOptions extends ServerPlace {
  /** Keeps the ids that the file lacks. Default: they last as long as the notebook is open. */
  cellIds?: KeptCellIds | undefined;
  logger?: Logger | undefined;
}

/** Outputs of a cell that runs are saved this often. */
const saveWhileRunningMs = 2000;
const maxNamedChanges = 20;

/**
 * A notebook of a server without shared documents: its file, read and written as a whole. It is written only if it is as it was last
 * seen; what another program has written is taken in, and never overwritten.
 */
export class StoredNotebook implements NotebookSource {
  readonly isLive = false;
  readonly people: readonly string[] = [];
  readonly #options: StoredNotebookOptions;
  readonly #synced: SyncedNotebook;
  #stamp: Stamp;
  #reprinted: ServerFile['reprinted'];
  #turn: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #running = 0;
  readonly #stopListening: () => void;

  private constructor(options: StoredNotebookOptions, file: ServerFile) {
    this.#options = options;
    this.#synced = new SyncedNotebook(file.file);
    this.#stamp = file.stamp;
    this.#reprinted = file.reprinted;
    if (this.note !== undefined) options.logger?.info(this.note, { path: options.path });
    this.#stopListening = this.document.onChange(({ change: { op } }) => this.#saveSoon(op.type === 'editOutputs'));
  }

  /** Rejects with `no_notebook`, `bad_notebook`, or as `JupyterServer` does. */
  static async open(options: StoredNotebookOptions): Promise<StoredNotebook> {
    return new StoredNotebook(options, await readServerFile(options, await options.cellIds?.read(keyOf(options))));
  }

  get note(): string | undefined {
    if (this.#reprinted === undefined) return fileNote(this.path, this.#synced.file);
    return `Jupyter writes the whole of "${this.path}" anew with each edit: ${this.#reprinted}.`;
  }

  get document(): NotebookDocument {
    return this.#synced.document;
  }

  get path(): string {
    return this.#options.path;
  }

  /** Takes in what others have written: whether an edit was meant for it, the revision of its cell tells. */
  ready(): Promise<void> {
    return this.#inTurn(async () => void (await this.#takeIn()));
  }

  settle(): Promise<void> {
    return this.#inTurn(() => this.#save());
  }

  setRunning(_cellId: string, isRunning: boolean): void {
    this.#running += isRunning ? 1 : -1;
    // The cell that runs may be new.
    this.#saveSoon(false);
  }

  async close(): Promise<void> {
    this.#stopListening();
    clearTimeout(this.#timer);
    await this.settle();
  }

  /** One at a time: between looking at the file and writing it, nothing else of ours happens. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work, work);
    this.#turn = turn.catch(() => {});
    return turn;
  }

  /** What has changed, in words; empty where nothing has. */
  async #takeIn(): Promise<string[]> {
    if (isSameStamp(await readStamp(this.#options), this.#stamp)) return [];
    const before = this.#synced.toNotebook();
    // Both sides have changed the same: theirs stays, and the caller is told.
    const notebook = await this.#readAgain();
    return isSameNotebook(before, notebook) ? [] : changesOf(before, notebook);
  }

  async #readAgain(): Promise<Notebook> {
    const read = await readServerFile(this.#options, this.#synced.known);
    this.#synced.takeIn(read.file, 'theirs');
    this.#stamp = read.stamp;
    this.#reprinted = read.reprinted;
    return read.file.notebook;
  }

  async #save(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#synced.isDirty) return;
    const changes = await this.#takeIn();
    if (this.#synced.isDirty) appendAll(changes, await this.#write());
    if (changes.length > 0) throw this.#changed(changes);
  }

  /** Answers with what somebody else has changed right behind it. */
  async #write(): Promise<string[]> {
    const { version } = this.document;
    const notebook = this.#synced.toNotebook();
    const { file } = this.#synced;
    const hash = await writeServerFile(this.#options, { file, reprinted: this.#reprinted }, notebook);
    this.#synced.markSaved(notebook, version);
    const { path, cellIds, logger } = this.#options;
    await keepLackingIds(cellIds, { path, key: keyOf(this.#options), form: file.form, notebook, logger });
    // The answer tells how the file is by now, which may be somebody else's work already.
    const stamp = await readStamp(this.#options);
    if (stamp.hash !== hash) return cellChanges(notebook, await this.#readAgain());
    this.#stamp = stamp;
    return [];
  }

  /** What agents write is saved by their calls; outputs come at any time. */
  #saveSoon(isOutput: boolean): void {
    if (this.#synced.isFollowing || (this.#running === 0 && !isOutput)) return;
    this.#timer ??= setTimeout(() => {
      this.settle().catch((error: unknown) => this.#options.logger?.warn('The notebook was not saved.', { error: messageOf(error) }));
    }, saveWhileRunningMs);
  }

  #changed(changes: readonly string[]): NotebookError {
    const named = changes.slice(0, maxNamedChanges).join('; ');
    const more = changes.length > maxNamedChanges ? `; and ${changes.length - maxNamedChanges} more` : '';
    const message = `"${this.path}" was changed on the server by another program: ${named}${more}. What does not touch those changes was joined with them and written. Read the cells again, then decide.`;
    return new NotebookError('changed_elsewhere', message, { data: { path: this.path, changes: changes.slice(0, maxNamedChanges) } });
  }
}

function isSameStamp(left: Stamp, right: Stamp): boolean {
  return left.hash !== undefined && right.hash !== undefined ? left.hash === right.hash : left.lastModified === right.lastModified;
}

function keyOf({ server, path }: ServerPlace): string {
  return `${server.name}${path}`;
}

function changesOf(before: Notebook, after: Notebook): string[] {
  const cells = cellChanges(before, after);
  return cells.length > 0 ? cells : ['its order or metadata'];
}

function cellChanges(before: Notebook, after: Notebook): string[] {
  const [old, now] = [before, after].map(({ cells }) => new Map(cells.map((cell) => [cell.id, cell])));
  const changed = after.cells.flatMap((cell) => {
    const was = old?.get(cell.id);
    if (!was) return [`cell "${cell.id}" is new`];
    return isSameCell(was, cell) ? [] : [`cell "${cell.id}" has changed`];
  });
  const gone = before.cells.flatMap(({ id }) => (now?.has(id) ? [] : [`cell "${id}" is gone`]));
  return [...changed, ...gone];
}
