import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { isJsonObject } from '@notebridge/protocol/json';
import { tryJson } from '@notebridge/protocol/util/try-json';
import { writeFileAtomic } from '@notebridge/system/files/atomic-file';
import { withFileLock } from '@notebridge/system/files/file-lock';
import { ensurePrivateDir, readPrivateFile } from '@notebridge/system/files/private-file';
import { ownUserId } from '@notebridge/system/processes/own-user';
import { keyOf, type NotebookAddress } from './notebook-address.js';

/** Notebooks whose id is kept, the latest first. One that falls out gets a new id. */
const maxKept = 500;

interface KeptIds {
  last: number;
  /** Key of the address, and number, the latest first. */
  known: [key: string, number: number][];
}

/**
 * The id of a notebook: `nb1`, `nb2`, …, never another's in this state folder. One that is opened again has the id that it had, also after
 * the process that held it was killed; one in memory has a new one. Never rejects: where nothing can be kept, the id is a random one.
 */
export async function idFor(dir: string, address: NotebookAddress): Promise<string> {
  try {
    ensurePrivateDir(dir, { uid: ownUserId() });
    return await withFileLock(join(dir, 'notebook-ids.lock'), () => take(join(dir, 'notebook-ids.json'), keyOf(address)), {
      timeoutMs: lockTimeoutMs,
    });
  } catch {
    return `nb-${randomBytes(5).toString('hex')}`;
  }
}

/** A disk that hangs must not keep a notebook from opening. */
const lockTimeoutMs = 6000;

async function take(path: string, key: string | undefined): Promise<string> {
  const { last, known } = read(path);
  const found = known.find(([other]) => other === key);
  const number = found?.[1] ?? last + 1;
  const others = known.filter((entry) => entry !== found);
  const next: KeptIds = {
    last: Math.max(last, number),
    known: (key === undefined ? others : [[key, number] satisfies [string, number], ...others]).slice(0, maxKept),
  };
  await writeFileAtomic(path, `${JSON.stringify(next)}\n`, { mode: 0o600 });
  return `nb${number}`;
}

/** What cannot be read would have ids given again. Throws. */
function read(path: string): KeptIds {
  const text = readPrivateFile(path, { uid: ownUserId() });
  if (text === undefined) return { last: 0, known: [] };
  const found = tryJson(text);
  if (!isJsonObject(found) || !Number.isSafeInteger(found.last) || !Array.isArray(found.known))
    throw new Error(`"${path}" is no list of ids.`);
  const isKept = (entry: unknown): entry is [string, number] =>
    Array.isArray(entry) && typeof entry[0] === 'string' && Number.isSafeInteger(entry[1]);
  return { last: Number(found.last), known: (found.known as unknown[]).filter(isKept) };
}
