import { readFileSync } from 'node:fs';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { errnoOf } from '@notebridge/protocol/util/errno';
import { quote } from '@notebridge/protocol/util/quote';

/** The text of a file that the config names under `key`. @throws BridgeError `bad_config`, naming both. */
export function readNamedFile(path: string, key: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const errno = errnoOf(error) ?? 'unknown';
    // A secret that was written in place of a path, "user:password" or the seed of an nkey, is shown to nobody. (A drive has its colon before.)
    const place = path.includes(':', 2) || /SU[A-Z2-7]{56}$/.test(path) ? {} : { path };
    const found = errno === 'ENOENT' ? 'there is none' : `it cannot be read (${errno})`;
    const text = `"${key}" of the config is the path of a file, and ${found}${place.path === undefined ? '' : ` at ${quote(path)}`}. Fix the path, or put the file there.`;
    throw new BridgeError('bad_config', text, { data: place, cause: errno === 'ENOENT' ? undefined : error });
  }
}
