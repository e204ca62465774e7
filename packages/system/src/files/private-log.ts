import { closeSync, constants, fstatSync, ftruncateSync, openSync } from 'node:fs';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { PrivacyRules } from './private-file.js';
import { systemFault } from './system-fault.js';

const maxBytes = 1024 * 1024;

/**
 * Opens a file that a program of ours appends its stderr to, made with mode 0600; one above 1 MiB is begun anew. Links are not followed.
 * Returns its descriptor, which the caller closes. Throws `write_failed` if it is not the user's own alone.
 */
export function openPrivateLog(path: string, { uid }: PrivacyRules): number {
  let file: number | undefined;
  try {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    file = openSync(path, flags, 0o600);
    const found = fstatSync(file);
    const isPrivate = found.isFile() && (uid === undefined || (found.uid === uid && (found.mode & 0o077) === 0));
    if (!isPrivate)
      throw new BridgeError('write_failed', `"${path}" is no file of this user alone. Move it away.`, {
        data: { path, reason: 'not_private' },
      });
    if (found.size > maxBytes) ftruncateSync(file);
    return file;
  } catch (error) {
    if (file !== undefined) closeSync(file);
    throw error instanceof BridgeError ? error : systemFault(`Cannot write "${path}"`, path, error);
  }
}
