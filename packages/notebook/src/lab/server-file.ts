import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { oldCopyName } from '../host/copies.js';
import type { Notebook } from '../model/cell.js';
import type { KnownCell } from '../model/cell-ids.js';
import { NotebookError } from '../model/errors.js';
import { printNotebook, type ReadNotebook, readNotebook } from '../model/nbformat.js';
import type { JupyterServer } from './jupyter-server.js';
import { isPaired, readContents, writeContents } from './server-contents.js';

/** Where a notebook is on a server. */
export interface ServerPlace {
  server: JupyterServer;
  path: string;
}

/** What tells one version of the server's file from another. Servers before 2.11 have no hash. */
export interface Stamp {
  readonly lastModified: string;
  readonly hash: string | undefined;
}

/**
 * A notebook's file on a server, read and written as text, so that it changes only where it was edited: asked for a notebook, the server
 * prints the whole of it anew. `reprinted` says why it is asked for one all the same.
 */
export interface ServerFile {
  readonly file: ReadNotebook;
  readonly stamp: Stamp;
  readonly reprinted: string | undefined;
}

const maxCopies = 20;
const encoder = new TextEncoder();
/** Keeps a byte order mark. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Rejects with `no_notebook`, `bad_notebook`, or as `JupyterServer` does. */
export async function readServerFile(place: ServerPlace, known: readonly KnownCell[] = []): Promise<ServerFile> {
  const text = await readText(place);
  if (typeof text === 'string') return readReprinted(place, { known, reprinted: text });
  const file = readNotebook(text.bytes, { known });
  if (await isPaired(place.server, place.path, file.notebook.metadata))
    return readReprinted(place, { known, reprinted: 'jupytext keeps it together with another file' });
  return { file, stamp: text.stamp, reprinted: undefined };
}

/** Writes it as it was read. Returns the hash that the server's file has then, if nobody writes right behind it. */
export async function writeServerFile(
  place: ServerPlace,
  { file, reprinted }: Pick<ServerFile, 'file' | 'reprinted'>,
  notebook: Notebook,
): Promise<string> {
  const { server, path } = place;
  if (reprinted !== undefined) {
    const printed = printNotebook(notebook);
    await writeContents(server, path, { type: 'notebook', format: 'json', content: JSON.parse(printed) as JsonObject });
    return hashOf(encoder.encode(printed));
  }
  if (file.old) await keepOldCopy(place, file.old);
  const bytes = file.form.print(notebook);
  await writeContents(server, path, { type: 'file', format: 'text', content: decoder.decode(bytes) });
  return hashOf(bytes);
}

export async function readStamp(place: ServerPlace): Promise<Stamp> {
  return toStamp(await ask(place, { content: '0', hash: '1' }));
}

/** The bytes of the file, or why they cannot be had: what the server gives as text is compared with the hash of what it has. */
async function readText(place: ServerPlace): Promise<{ bytes: Uint8Array; stamp: Stamp } | string> {
  if (!/\.ipynb$/i.test(place.path)) return 'jupytext makes it of a text';
  const body = await ask(place, { type: 'file', format: 'text', hash: '1' }).catch((error: unknown) => {
    if (error instanceof NotebookError && error.code === 'server_failed') return undefined;
    throw error;
  });
  if (typeof body?.content !== 'string') return 'the server does not give its text';
  const bytes = encoder.encode(body.content);
  const stamp = toStamp(body);
  return stamp.hash === hashOf(bytes) ? { bytes, stamp } : 'the server does not keep it as a file, or is older than 2.11';
}

async function readReprinted(
  place: ServerPlace,
  { known, reprinted }: { known: readonly KnownCell[]; reprinted: string },
): Promise<ServerFile> {
  const body = await ask(place, { type: 'notebook', hash: '1' });
  if (!isJsonObject(body.content)) throw notThere(place, { status: 200, body });
  return { file: readNotebook(encoder.encode(JSON.stringify(body.content)), { known }), stamp: toStamp(body), reprinted };
}

/** As on a disk: beside the notebook, and never in the place of anything. */
async function keepOldCopy({ server, path }: ServerPlace, { nbformat, bytes }: { nbformat: number; bytes: Uint8Array }): Promise<void> {
  const content = decoder.decode(bytes);
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  for (let number = 0; number < maxCopies; number++) {
    const copy = folder + oldCopyName(path, nbformat, number);
    const { status, body } = await readContents(server, copy, { type: 'file', format: 'text' });
    if (status === 200 && body.content === content) return;
    if (status === 404) return writeContents(server, copy, { type: 'file', format: 'text', content });
  }
  throw new NotebookError('server_failed', `${server.name} has ${maxCopies} copies of older versions of "${path}" already.`);
}

async function ask(place: ServerPlace, query: { [name: string]: string }): Promise<JsonObject> {
  const { status, body } = await readContents(place.server, place.path, query);
  if (status !== 200) throw notThere(place, { status, body });
  return body;
}

function toStamp({ last_modified: lastModified, hash }: JsonObject): Stamp {
  return { lastModified: String(lastModified), hash: typeof hash === 'string' ? hash : undefined };
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function notThere({ server, path }: ServerPlace, { status, body }: { status: number; body: JsonObject }): NotebookError {
  const said = typeof body.message === 'string' ? ` (${body.message.slice(0, 300)})` : '';
  if (status === 404)
    return new NotebookError(
      'no_notebook',
      `${server.name} has no notebook "${path}": it was renamed or deleted, or never there. list_notebooks lists those that are; connect_notebook with "create": true makes it.`,
      { data: { path } },
    );
  return new NotebookError('server_failed', `${server.name} answered for the notebook "${path}" with ${status}${said}.`, {
    data: { path, status },
  });
}
