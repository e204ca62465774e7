import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { type Logger, silentLogger } from '@notebridge/kit/logger';
import { appendAll } from '@notebridge/kit/long-lists';
import { messageOf } from '@notebridge/kit/message-of';
import { isSameCell } from '../host/merge.js';
import { isSameNotebook, SyncedNotebook } from '../host/synced-notebook.js';
import type { Notebook } from '../model/cell.js';
import { createDocument, type NotebookDocument } from '../model/document.js';
import { NotebookError } from '../model/errors.js';
import { parseNotebook, printNotebook } from '../model/nbformat.js';
import { encodePath, type JupyterServer } from './jupyter-server.js';
import type { NotebookSource } from './notebook-source.js';

export interface StoredNotebookOptions {
  server: JupyterServer;
  path: string;
  logger?: Logger | undefined;
}

/** What tells one version of the server's file from another. Servers before 2.11 have no hash. */
interface Stamp {
  readonly lastModified: string;
  readonly hash: string | undefined;
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
  #turn: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #running = 0;
  readonly #stopListening: () => void;

  private constructor(options: StoredNotebookOptions, { notebook, stamp }: Read) {
    this.#options = options;
    this.#synced = new SyncedNotebook(createDocument(notebook));
    this.#stamp = stamp;
    this.#stopListening = this.document.onChange(({ change: { op } }) => this.#saveSoon(op.type === 'editOutputs'));
  }

  /** Rejects with `no_notebook`, `bad_notebook`, or as `JupyterServer` does. */
  static async open(options: StoredNotebookOptions): Promise<StoredNotebook> {
    return new StoredNotebook(options, await read(options));
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
    const { notebook, stamp } = await read(this.#options);
    const before = this.#synced.toNotebook();
    // Both sides have changed the same: theirs stays, and the caller is told.
    this.#synced.takeIn(notebook, 'theirs');
    this.#stamp = stamp;
    return isSameNotebook(before, notebook) ? [] : changesOf(before, notebook);
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
    const { server, path } = this.#options;
    const { version } = this.document;
    const notebook = this.#synced.toNotebook();
    const printed = printNotebook(notebook);
    const body = { type: 'notebook', format: 'json', content: JSON.parse(printed) as JsonObject };
    await server.request(`api/contents/${encodePath(path)}`, { method: 'PUT', body });
    this.#synced.markSaved(notebook, version);
    // The answer tells how the file is by now, which may be somebody else's work already.
    const stamp = await readStamp(this.#options);
    if (stamp.hash === createHash('sha256').update(printed).digest('hex')) {
      this.#stamp = stamp;
      return [];
    }
    const now = await read(this.#options);
    this.#synced.takeIn(now.notebook, 'theirs');
    this.#stamp = now.stamp;
    return cellChanges(notebook, now.notebook);
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

interface Read {
  notebook: Notebook;
  stamp: Stamp;
}

async function read({ server, path, logger = silentLogger }: StoredNotebookOptions): Promise<Read> {
  const { status, body } = await server.ask(`api/contents/${encodePath(path)}`, { query: { type: 'notebook', hash: '1' } });
  if (status !== 200 || !isJsonObject(body) || !isJsonObject(body.content)) throw notThere(server, { path, status, body });
  const { notebook, mended } = parseNotebook(JSON.stringify(body.content));
  if (mended.length > 0) logger.info('The notebook was completed as it was read.', { path, mended });
  return { notebook, stamp: toStamp(body) };
}

async function readStamp({ server, path }: StoredNotebookOptions): Promise<Stamp> {
  const { status, body } = await server.ask(`api/contents/${encodePath(path)}`, { query: { content: '0', hash: '1' } });
  if (status !== 200 || !isJsonObject(body)) throw notThere(server, { path, status, body });
  return toStamp(body);
}

function toStamp({ last_modified: lastModified, hash }: JsonObject): Stamp {
  return { lastModified: String(lastModified), hash: typeof hash === 'string' ? hash : undefined };
}

function isSameStamp(left: Stamp, right: Stamp): boolean {
  return left.hash !== undefined && right.hash !== undefined ? left.hash === right.hash : left.lastModified === right.lastModified;
}

function notThere(server: JupyterServer, { path, status, body }: { path: string; status: number; body: unknown }): NotebookError {
  const said = isJsonObject(body) && typeof body.message === 'string' ? ` (${body.message.slice(0, 300)})` : '';
  if (status === 404)
    return new NotebookError(
      'no_notebook',
      `${server.name} has no notebook "${path}": it was renamed or deleted, or never there. list_notebooks lists those that are; connect_notebook with "create": true makes it.`,
      {
        data: { path },
      },
    );
  return new NotebookError('server_failed', `${server.name} answered for the notebook "${path}" with ${status}${said}.`, {
    data: { path, status },
  });
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
