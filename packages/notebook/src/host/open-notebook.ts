import { errnoOf, explain } from '@notebridge/protocol/util/errno';
import type { Logger } from '@notebridge/protocol/util/logger';
import type { Notebook } from '../model/cell.js';
import { NotebookError } from '../model/errors.js';
import { defaultNotebookLimits, type NotebookLimits, printNotebook, type ReadNotebook, readNotebook } from '../model/nbformat.js';
import { HostError } from '../session/host-error.js';
import { DiskFile } from './disk-file.js';
import { NotebookLock } from './file-lock.js';
import type { KeptCellIds } from './kept-files.js';

export interface OpenedFile {
  readonly disk: DiskFile;
  readonly lock: NotebookLock | undefined;
  readonly file: ReadNotebook;
}

export interface OpenNotebookOptions {
  path: string;
  /** All links of the path are resolved: one that is met now was put there since, and is refused. Default false. */
  isReal?: boolean | undefined;
  limits?: NotebookLimits | undefined;
  /** Keeps the ids that files lack. Default: they last as long as the notebook is open. */
  cellIds?: KeptCellIds | undefined;
  logger: Logger;
}

/** What a new file holds, so that every notebook program knows its language. */
const newNotebook: Notebook = {
  metadata: {
    kernelspec: { display_name: 'Python 3', language: 'python', name: 'python3' },
    language_info: { name: 'python' },
  },
  minor: 5,
  cells: [],
};

/** Locks and reads a notebook, or makes an empty one. Rejects as `FileStore.open` does. */
export async function openNotebook(options: OpenNotebookOptions): Promise<OpenedFile> {
  const { path, isReal, limits = {}, cellIds, logger } = options;
  let lock: NotebookLock | undefined;
  try {
    const disk = await DiskFile.at(path, { maxBytes: limits.maxBytes ?? defaultNotebookLimits.maxBytes, isReal });
    lock = await NotebookLock.take(disk.path, logger);
    const file = await readOrCreate(disk, { limits, cellIds });
    if (lock) await disk.sweep();
    return { disk, lock, file };
  } catch (error) {
    await lock?.release();
    throw toOpenError(error, path);
  }
}

async function readOrCreate(disk: DiskFile, { limits, cellIds }: Pick<OpenNotebookOptions, 'limits' | 'cellIds'>): Promise<ReadNotebook> {
  const known = await cellIds?.read(disk.path);
  for (;;) {
    const found = await disk.look();
    if (found.kind === 'changed') {
      const file = readNotebook(found.bytes, { limits, known });
      disk.accept(found);
      return file;
    }
    const bytes = Buffer.from(printNotebook(newNotebook));
    if (await disk.create(bytes)) return readNotebook(bytes, { limits });
  }
}

function toOpenError(error: unknown, path: string): unknown {
  if (error instanceof HostError) return error;
  const start = `Cannot open "${path}"`;
  if (error instanceof NotebookError) {
    return new NotebookError(error.code, `${start}: ${error.message}`, { data: { ...error.data, file: path }, cause: error });
  }
  const data = { path, reason: errnoOf(error) ?? 'unknown' };
  return new HostError('file_unreadable', `${start}: ${explain(error)}`, { data, cause: error });
}
