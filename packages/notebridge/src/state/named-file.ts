import { readFileSync } from 'node:fs';
import { errnoOf } from '@notebridge/kit/errno';
import { BridgeError } from '../core/errors.js';

/** The text of a file that the config names under `key`. @throws BridgeError `bad_config`, naming both. */
export function readNamedFile(path: string, key: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new BridgeError('bad_config', `"${path}", the "${key}" of the config, cannot be read (${errnoOf(error) ?? 'unknown'}).`, {
      data: { path },
      cause: error,
    });
  }
}
