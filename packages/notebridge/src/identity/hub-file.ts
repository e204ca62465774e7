import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { readAtMost } from '@notebridge/protocol/util/read-at-most';
import { tryJson } from '@notebridge/protocol/util/try-json';
import { writeFileAtomic } from '@notebridge/system/files/atomic-file';
import { ensurePrivateDir, namesInPrivateDir, readPrivateFile, removePrivateFile } from '@notebridge/system/files/private-file';
import { processExists } from '@notebridge/system/processes/living-process';
import { ownUserId } from '@notebridge/system/processes/own-user';
import { hubNamePattern, usualHubName } from './hub-name.js';
import { verifyProof } from './owner-token.js';

/** Where a running hub of this user is. It holds no secret: the owner's token has a file of its own. */
export interface HubFile {
  /** What this user calls it: `serve --name`. */
  name: string;
  /** The hub's address: `http://127.0.0.1:8765`. */
  url: string;
  pid: number;
  /** Milliseconds since the epoch. */
  startedAt: number;
  /** The version of Notebridge. */
  version: string;
}

export interface WrittenHubFile {
  /** Removes the file, unless another hub has written it since. Twice is harmless. */
  remove(): void;
}

/** How long a listener may take to prove that it is ours: a busy machine takes seconds for anything. Milliseconds. */
const proofTimeoutMs = 10_000;
const maxProofBytes = 64 * 1024;

/** The file of the hub with this name. */
export function hubFileOf(dir: string, name: string): string {
  return join(dir, name === usualHubName ? 'hub.json' : `hub-${name}.json`);
}

/** The names of all hubs that have a file there, whether they run or not; the usual one first. */
export function hubNamesIn(dir: string): string[] {
  const files = namesInPrivateDir(dir).sort();
  const names = files.flatMap((file) => (file === 'hub.json' ? [usualHubName] : (/^hub-(.+)\.json$/.exec(file)?.[1] ?? [])));
  return names
    .filter((name) => hubNamePattern.test(name))
    .sort((one, other) => Number(other === usualHubName) - Number(one === usualHubName));
}

/** Publishes the hub's address for this user's commands and bindings. Rejects with `write_failed`. */
export async function writeHubFile(dir: string, { name, ...hub }: HubFile): Promise<WrittenHubFile> {
  ensurePrivateDir(dir, { uid: ownUserId() });
  const file = hubFileOf(dir, name);
  const nonce = randomBytes(12).toString('hex');
  await writeFileAtomic(file, `${JSON.stringify({ ...hub, nonce })}\n`, { mode: 0o600, anew: true });
  return {
    remove: () => {
      const found = parse(readPrivateFile(file, { uid: ownUserId() }));
      if (found !== undefined && found.nonce === nonce) removePrivateFile(file);
    },
  };
}

/**
 * Where the hub with this name says that it is; undefined if there is none, or its process has ended without removing the file. That
 * what listens there is our hub is only known after `isOwnHub`. Throws `write_failed` if the file is not the user's own alone.
 */
export function readHubFile(dir: string, name: string): HubFile | undefined {
  const found = parse(readPrivateFile(hubFileOf(dir, name), { uid: ownUserId() }));
  if (found === undefined || !processExists(found.pid)) return undefined;
  const { url, pid, startedAt, version } = found;
  return { name, url, pid, startedAt, version };
}

/** The hubs of this user that run, as they say. Throws as `readHubFile`. */
export function readHubFiles(dir: string): HubFile[] {
  return hubNamesIn(dir).flatMap((name) => readHubFile(dir, name) ?? []);
}

/**
 * True if what listens at the address knows the owner's token. It is asked `GET /healthz?challenge=<nonce>` without the token, and
 * answers JSON with `proof`. False for whatever else it answers, for silence of ten seconds, and for redirects.
 */
export async function isOwnHub(url: string, token: string): Promise<boolean> {
  const nonce = randomBytes(24).toString('base64url');
  try {
    const asked = new URL('/healthz', url);
    asked.searchParams.set('challenge', nonce);
    const answer = await fetch(asked, { redirect: 'error', signal: AbortSignal.timeout(proofTimeoutMs) });
    const port = Number(asked.port || (asked.protocol === 'https:' ? 443 : 80));
    // A listener of somebody else may answer without end.
    const body = tryJson((await readAtMost(answer, maxProofBytes)).toString());
    return verifyProof(token, { nonce, port, proof: isJsonObject(body) ? body.proof : undefined });
  } catch {
    return false;
  }
}

function parse(text: string | undefined): (Omit<HubFile, 'name'> & JsonObject) | undefined {
  if (text === undefined) return undefined;
  const found = tryJson(text);
  if (!isJsonObject(found)) return undefined;
  const { url, pid, startedAt, version } = found;
  const isHub =
    typeof url === 'string' && /^https?:\/\//.test(url) && Number.isSafeInteger(pid) && (pid as number) > 0 && typeof version === 'string';
  return isHub && typeof startedAt === 'number' ? (found as unknown as Omit<HubFile, 'name'> & JsonObject) : undefined;
}
