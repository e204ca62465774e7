import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import { toPlainValue } from '@notebridge/protocol/core/wire';
import type { JsonObject } from '@notebridge/protocol/json';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { quote } from '@notebridge/protocol/util/quote';
import { ownProcessId } from '@notebridge/system/processes/own-user';
import { type HostPlace, readHostPlaces } from './host-place.js';
import { dialHost, toOwnError } from './join-link.js';
import type { EndedNotebook, ListedNotebook } from './shared-notebook.js';

/** A notebook that a process of the user has open, as `notebridge ps` shows it. */
export interface OpenNotebookState {
  id: string;
  /** With links resolved; null for one in memory. The address of one that is no file of ours. */
  file: string | null;
  /** Name, version and state. */
  kernel: string;
  windows: number;
  /** What the connected agents call themselves. */
  agents: string[];
  /** What the agent calls itself that alone changes and runs; null for none. */
  holder: string | null;
  /** Milliseconds since the epoch. */
  since: number;
}

/** One question to a process that holds notebooks. Rejects as `dialHost` does. */
async function askHost(place: HostPlace, version: string, method: string, params: JsonObject = {}): Promise<JsonObject> {
  const peer = await dialHost(place, version);
  try {
    return toPlainValue(await peer.request(method, params, { timeoutMs: answerTimeoutMs })) as JsonObject;
  } catch (error) {
    throw toOwnError(error);
  } finally {
    peer.close();
  }
}

/** A notebook of many megabytes may have to be saved first. */
const answerTimeoutMs = 30_000;

/** A process of the user, and the notebooks that it holds. */
export interface HoldingProcess {
  kind: HostPlace['kind'];
  pid: number;
  /** Milliseconds since the epoch. */
  startedAt: number;
  version: string;
  notebooks: OpenNotebookState[];
  /** Why it cannot be asked. */
  fault?: string;
}

/** Never rejects: why a process cannot be asked stands in its report. */
export async function reportOf(place: HostPlace, version: string): Promise<HoldingProcess> {
  const { kind, pid, startedAt, version: its } = place;
  const host = { kind, pid, startedAt, version: its };
  try {
    return { ...host, notebooks: await notebooksOf(place, version) };
  } catch (error) {
    return { ...host, notebooks: [], fault: messageOf(error) };
  }
}

/** Saves and ends a notebook; without an id all that the process holds, and the process. Rejects with `not_saved` where something would be lost, unless it is forced. */
export async function askToEnd(place: HostPlace, version: string, params: { id?: string; isForced: boolean }): Promise<EndedNotebook[]> {
  const { losses, ended } = await askHost(place, version, 'host/stop', params);
  if (!Array.isArray(losses) || losses.length === 0) return ended as unknown as EndedNotebook[];
  throw new BridgeError(
    'not_saved',
    `Not ended, because something would be lost: ${losses.join('; ')}. Save it in its window, or end it with --force.`,
  );
}

/** Ends the hold of whichever agent has the notebook. Resolves with what that one calls itself; null for nobody. */
export async function askToRelease(place: HostPlace, version: string, id: string): Promise<string | null> {
  const { holder } = await askHost(place, version, 'host/release', { id });
  return typeof holder === 'string' ? holder : null;
}

/** What other processes of the user hold, and what its owner does with it from here. */
export class NotebooksElsewhere {
  readonly #dir: string;
  readonly #version: string;

  /** `dir`: the user's state folder. */
  constructor(dir: string, version: string) {
    this.#dir = dir;
    this.#version = version;
  }

  /** Rejects with `write_failed` where the files of those processes are not the user's own alone. */
  async list(): Promise<HoldingProcess[]> {
    return Promise.all(placesElsewhere(this.#dir).map((place) => reportOf(place, this.#version)));
  }

  /** Rejects with `bad_params` where none holds it. */
  async release(id: string): Promise<string | null> {
    return askToRelease(await this.#placeOf(id), this.#version, id);
  }

  /** Rejects with `bad_params` where none holds it, and as `askToEnd`. */
  async end(id: string, isForced: boolean): Promise<void> {
    await askToEnd(await this.#placeOf(id), this.#version, { id, isForced });
  }

  async #placeOf(id: string): Promise<HostPlace> {
    for (const place of placesElsewhere(this.#dir)) {
      const held = await notebooksOf(place, this.#version).catch(() => []);
      if (held.some((notebook) => notebook.id === id)) return place;
    }
    throw new BridgeError(
      'bad_params',
      `No other process of yours holds a notebook ${quote(id)} (any more). See: GET /api/v1/hub/notebooks/elsewhere`,
    );
  }
}

function placesElsewhere(dir: string): HostPlace[] {
  return readHostPlaces(dir).filter(({ pid }) => pid !== ownProcessId());
}

export async function notebooksOf(place: HostPlace, version: string): Promise<OpenNotebookState[]> {
  const { notebooks } = await askHost(place, version, 'host/status');
  return notebooks as unknown as OpenNotebookState[];
}

/** What agents may choose from. */
export async function listedBy(place: HostPlace, version: string): Promise<ListedNotebook[]> {
  const { notebooks } = await askHost(place, version, 'host/list');
  return notebooks as unknown as ListedNotebook[];
}

/** The process that has the file open and can be joined; undefined if there is none. `file`: with links resolved. */
export async function findHolder(dir: string, version: string, file: string): Promise<HostPlace | undefined> {
  for (const place of readHostPlaces(dir)) {
    if (place.pid === ownProcessId() || (place.kind === 'notebook' && place.file !== file)) continue;
    try {
      if ((await notebooksOf(place, version)).some((notebook) => notebook.file === file)) return place;
    } catch (error) {
      // One that cannot be joined may still have the file: opening it says so.
      if (codeOf(error) === 'write_failed') throw error;
    }
  }
  return undefined;
}
