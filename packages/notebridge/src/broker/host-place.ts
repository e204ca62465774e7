import { join } from 'node:path';
import { isJsonObject } from '@notebridge/protocol/json';
import { tryJson } from '@notebridge/protocol/util/try-json';
import { writeFileAtomic } from '@notebridge/system/files/atomic-file';
import { ensurePrivateDir, namesInPrivateDir, readPrivateFile, removePrivateFile } from '@notebridge/system/files/private-file';
import { processExists, startOfProcess } from '@notebridge/system/processes/living-process';
import { ownUserId } from '@notebridge/system/processes/own-user';

/**
 * Where a process that holds notebooks can be joined. It stands in a file that only the user can read, since it holds the secret by
 * which both sides prove themselves. The `broker` holds any number; a `notebook` process, of a terminal or a hub, the one of its file.
 */
export interface HostPlace {
  kind: 'broker' | 'notebook';
  /** `unix:/path/of.sock`, or `tcp:PORT` on 127.0.0.1. */
  address: string;
  secret: string;
  pid: number;
  /** When that process started, where the system says it: its number may be given again. */
  processStart?: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  /** The version of Notebridge. */
  version: string;
  /** The one notebook of a `notebook` process, with links resolved. */
  file?: string;
}

export interface WrittenPlace {
  /** Removes the file, unless another process has written it since. Twice is harmless. */
  remove(): void;
}

const brokerName = 'broker.json';
const nameOf = ({ kind, pid }: Pick<HostPlace, 'kind' | 'pid'>): string => (kind === 'broker' ? brokerName : `notebook-${pid}.json`);

/** Publishes where this process can be joined. Rejects with `write_failed`. */
export async function writeHostPlace(dir: string, place: HostPlace): Promise<WrittenPlace> {
  ensurePrivateDir(dir, { uid: ownUserId() });
  const path = join(dir, nameOf(place));
  const processStart = startOfProcess(place.pid);
  const written: HostPlace = processStart === undefined ? place : { ...place, processStart };
  await writeFileAtomic(path, `${JSON.stringify(written)}\n`, { mode: 0o600, anew: true });
  return {
    remove: () => {
      if (readPlace(path)?.secret === place.secret) removePrivateFile(path);
    },
  };
}

/**
 * Where the user's broker says that it is; undefined if there is none, or its process has ended. That it is ours is only known when it has
 * proved itself. Throws `write_failed` if folder or file is not the user's own alone.
 */
export function readBrokerPlace(dir: string): HostPlace | undefined {
  return alive(readPlace(join(dir, brokerName)));
}

/** All processes of the user that say that they hold notebooks, the broker first. Those that were killed have their files removed. */
export function readHostPlaces(dir: string): HostPlace[] {
  const names = namesInPrivateDir(dir).filter((name) => /^notebook-\d+\.json$/.test(name));
  const places = names.flatMap((name) => {
    const path = join(dir, name);
    const place = readPlace(path);
    if (place !== undefined && alive(place) === undefined) removePrivateFile(path);
    return alive(place) ?? [];
  });
  return [readBrokerPlace(dir) ?? [], ...places].flat();
}

/** True if the very process runs that wrote the place, not another one of the same number. False where the system does not tell. */
export function isSameProcess({ pid, processStart }: HostPlace): boolean {
  return processStart !== undefined && startOfProcess(pid) === processStart;
}

function alive(place: HostPlace | undefined): HostPlace | undefined {
  if (place === undefined || !processExists(place.pid)) return undefined;
  return place.processStart === undefined || isSameProcess(place) ? place : undefined;
}

function readPlace(path: string): HostPlace | undefined {
  const found = tryJson(readPrivateFile(path, { uid: ownUserId() }) ?? '');
  if (!isJsonObject(found)) return undefined;
  const { kind, address, secret, pid, processStart, startedAt, version, file } = found;
  if (kind !== 'broker' && kind !== 'notebook') return undefined;
  if (typeof address !== 'string' || typeof secret !== 'string' || secret.length < 32 || typeof version !== 'string') return undefined;
  if (!Number.isSafeInteger(pid) || Number(pid) < 1) return undefined;
  return {
    kind,
    address,
    secret,
    pid: Number(pid),
    startedAt: Number(startedAt) || 0,
    version,
    ...(typeof processStart === 'string' ? { processStart } : {}),
    ...(typeof file === 'string' ? { file } : {}),
  };
}
