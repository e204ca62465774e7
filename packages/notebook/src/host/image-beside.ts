import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { errnoOf } from '@notebridge/kit/errno';
import { imageTypeOf } from '../outputs/image-type.js';
import { HostError } from '../session/host-error.js';
import type { BesideImage } from '../viewer/protocol.js';

/** Larger ones are not sent to windows: base64 makes a third more of them, and others wait meanwhile. */
export const maxImageBytes = 10 * 1024 * 1024;

const { O_RDONLY, O_NOFOLLOW = 0, O_DIRECTORY = 0, O_NONBLOCK = 0 } = constants;

/**
 * An image in the notebook's folder or below it, for a window. On Linux each name is looked up in the folder that is held open, and never
 * through a link: whatever is renamed meanwhile, no step leads out. Elsewhere the real path is checked, and then opened. What it is, its own
 * bytes say: only an image is ever sent. Rejects with `image_unreadable`.
 */
export async function readImageBeside(notebook: string, path: string): Promise<BesideImage> {
  const names = namesOf(path);
  if (!names) throw refusal(path, 'it is not below the folder of the notebook');
  try {
    const file = process.platform === 'linux' ? await openByHandles(dirname(notebook), names) : await openByPath(dirname(notebook), names);
    try {
      return await readImage(file, path);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof HostError) throw error;
    throw refusal(path, reasons[errnoOf(error) ?? ''] ?? 'it cannot be read', error);
  }
}

const reasons: { readonly [errno: string]: string } = {
  ENOENT: 'there is no such file beside the notebook',
  ENOTDIR: 'there is no such file beside the notebook',
  ELOOP: 'it is a link, and links are not followed',
  EACCES: 'this user may not read it',
};

/** Undefined for a path that names anything but a place below. */
function namesOf(path: string): string[] | undefined {
  if (path.length > 4000 || /[\0\\]|^\/|^[a-z]:/i.test(path)) return undefined;
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  return names.length === 0 || names.includes('..') ? undefined : names;
}

async function openByHandles(folder: string, names: readonly string[]): Promise<FileHandle> {
  let held = await open(await realpath(folder), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    for (const name of names.slice(0, -1)) {
      const next = await open(below(held, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      await held.close();
      held = next;
    }
    // A pipe is not waited for.
    return await open(below(held, names.at(-1) ?? ''), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } finally {
    await held.close();
  }
}

function below({ fd }: FileHandle, name: string): string {
  return `/proc/self/fd/${fd}/${name}`;
}

async function openByPath(folder: string, names: readonly string[]): Promise<FileHandle> {
  const root = await realpath(folder);
  const path = await realpath(join(root, ...names));
  if (!path.startsWith(root.endsWith(sep) ? root : root + sep))
    throw refusal(names.join('/'), 'it leads out of the folder of the notebook');
  return open(path, O_RDONLY | O_NOFOLLOW);
}

async function readImage(file: FileHandle, path: string): Promise<BesideImage> {
  const { size } = await assertFile(file, path);
  if (size > maxImageBytes) throw refusal(path, `it has more than ${maxImageBytes / 1024 / 1024} MiB`);
  const bytes = Buffer.alloc(size);
  let length = 0;
  for (let read = -1; read !== 0 && length < size; length += read) read = (await file.read(bytes, length, size - length, length)).bytesRead;
  const image = bytes.subarray(0, length);
  const type = imageTypeOf(image);
  if (!type) throw refusal(path, 'it is no image that a window shows');
  return { type, data: image.toString('base64') };
}

async function assertFile(file: FileHandle, path: string): Promise<{ size: number }> {
  const stats = await file.stat();
  if (!stats.isFile()) throw refusal(path, 'it is no file');
  return stats;
}

function refusal(path: string, why: string, cause?: unknown): HostError {
  return new HostError('image_unreadable', `The image "${path.slice(0, 200)}" is not shown: ${why}.`, { cause });
}
