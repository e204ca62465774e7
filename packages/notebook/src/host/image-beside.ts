import { type FileHandle, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf } from '@notebridge/protocol/util/errno';
import { walkByHandles } from '@notebridge/system/files/handle-walk';
import { walkByPath } from '@notebridge/system/files/path-walk';
import { imageTypeOf } from '../outputs/image-type.js';
import { HostError } from '../session/host-error.js';
import type { BesideImage } from '../viewer/protocol.js';

/** Larger ones are not sent to windows: base64 makes a third more of them, and others wait meanwhile. */
export const maxImageBytes = 10 * 1024 * 1024;

const isLinux = process.platform === 'linux';

/**
 * An image in the notebook's folder or below it, for a window. On Linux each name is looked up in the folder that is held open, and never
 * through a link: whatever is renamed meanwhile, no step leads out. Elsewhere the real path is checked, and then opened. What it is, its own
 * bytes say: only an image is ever sent. Rejects with `image_unreadable`.
 */
export async function readImageBeside(notebook: string, path: string): Promise<BesideImage> {
  const names = namesOf(path);
  if (!names) throw refusal(path, 'it is not below the folder of the notebook');
  try {
    const place = { root: await realpath(dirname(notebook)), inner: [] };
    const found = await (isLinux ? walkByHandles : walkByPath)(place, names.join('/'));
    if (found === 'absent') throw refusal(path, 'there is no such file beside the notebook');
    if (found === 'outside') throw refusal(path, isLinux ? isLink : 'it leads out of the folder of the notebook');
    try {
      // Links that stay inside are followed by the walk.
      if (isLinux && found.inner.join('/') !== names.join('/')) throw refusal(path, isLink);
      if (found.kind !== 'file') throw refusal(path, 'it is no file');
      return await found.withReader((file) => readImage(file, Number(found.stats.size), path));
    } finally {
      await found.close();
    }
  } catch (error) {
    if (error instanceof HostError) throw error;
    throw refusal(path, errnoOf(error) === 'EACCES' ? 'this user may not read it' : 'it cannot be read', error);
  }
}

const isLink = 'it is a link, and links are not followed';

/** Undefined for a path that names anything but a place below. */
function namesOf(path: string): string[] | undefined {
  if (path.length > 4000 || /[\0\\]|^\/|^[a-z]:/i.test(path)) return undefined;
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  return names.length === 0 || names.includes('..') ? undefined : names;
}

async function readImage(file: FileHandle, size: number, path: string): Promise<BesideImage> {
  if (size > maxImageBytes) throw refusal(path, `it has more than ${maxImageBytes / 1024 / 1024} MiB`);
  const bytes = Buffer.alloc(size);
  let length = 0;
  for (let read = -1; read !== 0 && length < size; length += read) read = (await file.read(bytes, length, size - length, length)).bytesRead;
  const image = bytes.subarray(0, length);
  const type = imageTypeOf(image);
  if (!type) throw refusal(path, 'it is no image that a window shows');
  return { type, data: image.toString('base64') };
}

function refusal(path: string, why: string, cause?: unknown): HostError {
  return new HostError('image_unreadable', `The image "${path.slice(0, 200)}" is not shown: ${why}.`, { cause });
}
