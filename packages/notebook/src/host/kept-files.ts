import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isJsonObject } from '@notebridge/protocol/json';
import { ignore, ignoreMissing } from '@notebridge/protocol/util/errno';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { Notebook } from '../model/cell.js';
import { type KnownCell, toKnown } from '../model/cell-ids.js';
import type { FileForm } from '../model/file-form.js';

/* What is kept of notebooks from one program that opens them to the next. */

/** Notebooks of which something is kept; the one that was written longest ago is forgotten first. */
const maxNotebooks = 1000;

/** The ids of the cells of notebooks whose files have none, so that they are the same after a restart. */
export interface KeptCellIds {
  /** Undefined for a notebook of which nothing is kept. */
  read(notebook: string): Promise<readonly KnownCell[] | undefined>;
  write(notebook: string, cells: readonly KnownCell[]): Promise<void>;
}

export function cellIdsIn(folder: string): KeptCellIds {
  const kept = keptByNotebook(folder);
  return {
    read: async (notebook) => asKnown(await kept.read(notebook)),
    write: (notebook, cells) =>
      kept.write(
        notebook,
        cells.map(({ id, rev }) => [id, rev]),
      ),
  };
}

function asKnown(found: unknown): KnownCell[] | undefined {
  const isPair = (entry: unknown) => Array.isArray(entry) && typeof entry[0] === 'string' && typeof entry[1] === 'number';
  return Array.isArray(found) && found.every(isPair) ? found.map(([id, rev]) => ({ id, rev })) : undefined;
}

/** Without the ids that the file lacks the next process would know other ones. That is no reason not to save. */
export async function keepLackingIds(
  kept: KeptCellIds | undefined,
  {
    path,
    key = path,
    form,
    notebook,
    logger,
  }: { path: string; key?: string; form: FileForm; notebook: Notebook; logger: Logger | undefined },
): Promise<void> {
  if (!form.lacksIds(notebook)) return;
  await kept?.write(key, toKnown(notebook.cells)).catch((error: unknown) => {
    logger?.warn('The ids of cells were not kept.', { path, error: messageOf(error) });
  });
}

/** Which outputs of which notebooks a person trusts, by the digests of what could run in them. */
export interface TrustedOutputs {
  /** Undefined for a notebook that is not trusted. */
  read(notebook: string): Promise<readonly string[] | undefined>;
  /** Without digests it is trusted no more. */
  write(notebook: string, digests: readonly string[] | undefined): Promise<void>;
}

type Kept = { [notebook: string]: readonly string[] };

/** Of one notebook; one that has more is asked about anew. */
const maxDigests = 2000;

/** Keeps them in a file of the user's own (0600), which is replaced as a whole. One that cannot be read trusts nothing. */
export function trustedOutputsIn(file: string): TrustedOutputs {
  const load = async (): Promise<Kept> => asKept(await readKept(file));
  return {
    read: async (notebook) => {
      const kept = await load();
      return Object.hasOwn(kept, notebook) ? kept[notebook] : undefined;
    },
    async write(notebook, digests) {
      const { [notebook]: _before, ...others } = await load();
      const entries = Object.entries(others).slice(-maxNotebooks + 1);
      if (digests && digests.length <= maxDigests) entries.push([notebook, digests]);
      await writeKept(file, Object.fromEntries(entries));
    },
  };
}

function asKept(found: unknown): Kept {
  if (!isJsonObject(found)) return {};
  const isList = (value: unknown) => Array.isArray(value) && value.every((digest) => typeof digest === 'string');
  return Object.fromEntries(Object.entries(found).filter(([, value]) => isList(value))) as Kept;
}

/** Where the windows of one notebook connect, and the key by which they and its host know each other. */
export interface WindowSeat {
  readonly port: number;
  readonly key: string;
  /** A window was open there when this was written. */
  readonly hasWindow: boolean;
}

/** Keeps the seat of each notebook, so that its windows find the next program that opens it. */
export interface WindowSeats {
  /** Undefined for a notebook that has none. `notebook`: the real path of its file. */
  read(notebook: string): Promise<WindowSeat | undefined>;
  write(notebook: string, seat: WindowSeat): Promise<void>;
}

export function windowSeatsIn(folder: string): WindowSeats {
  const kept = keptByNotebook(folder);
  return {
    read: async (notebook) => asSeat(await kept.read(notebook), notebook),
    write: (notebook, seat) => kept.write(notebook, { notebook, ...seat }),
  };
}

/** One that cannot be read is none. */
function asSeat(seat: unknown, notebook: string): WindowSeat | undefined {
  if (!isJsonObject(seat) || seat.notebook !== notebook) return undefined;
  const { port, key } = seat;
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65_535) return undefined;
  return typeof key === 'string' && /^[\w-]{43}$/.test(key) ? { port, key, hasWindow: seat.hasWindow === true } : undefined;
}

/** Keeps a value of each notebook in a file of its own: processes that open different notebooks never write the same one. */
function keptByNotebook(folder: string) {
  const fileOf = (notebook: string) => join(folder, `${createHash('sha256').update(notebook).digest('hex').slice(0, 32)}.json`);
  return {
    read: (notebook: string): Promise<unknown> => readKept(fileOf(notebook)),
    async write(notebook: string, value: unknown): Promise<void> {
      await writeKept(fileOf(notebook), value);
      await forgetOldest(folder);
    },
  };
}

/** Undefined where there is none, or none that can be read. */
async function readKept(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch(ignoreMissing);
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Replaces it as a whole; it (0600) and its folder (0700) are the user's own. */
async function writeKept(file: string, value: unknown): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}-${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(temporary, `${JSON.stringify(value)}\n`, { flag: 'wx', mode: 0o600 });
    await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
}

async function forgetOldest(folder: string): Promise<void> {
  const names = await readdir(folder);
  if (names.length <= maxNotebooks) return;
  const times = await Promise.all(names.map(async (name) => ({ name, at: (await stat(join(folder, name)).catch(ignore))?.mtimeMs ?? 0 })));
  const oldest = times.sort((a, b) => a.at - b.at).slice(0, names.length - maxNotebooks);
  await Promise.all(oldest.map(({ name }) => rm(join(folder, name), { force: true })));
}
