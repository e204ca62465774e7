import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type Principal, principalKey } from '@notebridge/protocol/core/principal';
import { isLegacyVersion } from '@notebridge/protocol/core/protocol-versions';
import { isJsonObject } from '@notebridge/protocol/json';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { tryJson } from '@notebridge/protocol/util/try-json';
import { writeFileAtomic } from '@notebridge/system/files/atomic-file';
import { ensurePrivateDir, readPrivateFile, removePrivateFile } from '@notebridge/system/files/private-file';
import type { LeftSession, SessionShelf } from '@notebridge/system/files/session-shelf';
import { ownUserId } from '@notebridge/system/processes/own-user';
import { usualHubName } from './hub-name.js';

/** How long a hub may take to be started again. Milliseconds. */
const keptMs = 60_000;
/** Bounds of one session, and of all: where all are more, the principal that has the most gives up its oldest. Their agents begin anew. */
const mostCharacters = { ofOne: 200_000, ofAll: 4_000_000 };

interface Kept {
  leftAt: number;
  session: LeftSession;
}

export interface KeptSessionsOptions {
  /** The state folder. */
  dir: string;
  /** The name of the hub: it alone goes on with what it has left. */
  name: string;
  logger: Logger;
  /** Milliseconds since the epoch, also across two starts. Default `Date.now`. */
  now?: (() => number) | undefined;
}

/**
 * The sessions of agents over one restart of a hub that is alone, in a file of the user's own: who they are of, and what their agents have said of
 * themselves. It holds a digest of each session id, and no call. Who comes back proves anew who it is.
 */
export class KeptSessions implements SessionShelf {
  readonly #file: string;
  readonly #options: KeptSessionsOptions;
  readonly #now: () => number;
  /** By the digest of the id. Undefined: the file was not looked at yet. */
  #kept: Map<string, Kept> | undefined;
  #writing: Promise<boolean> | undefined;
  #isWritten = false;

  constructor(options: KeptSessionsOptions) {
    const { dir, name, now = Date.now } = options;
    this.#file = join(dir, name === usualHubName ? 'sessions.json' : `sessions-${name}.json`);
    this.#options = options;
    this.#now = now;
  }

  /** Takes over what the last hub of this name has left, once: the file is gone. To be called when this hub has its port. */
  open(): void {
    this.#kept ??= this.#read();
  }

  leave(key: string, session: LeftSession): Promise<boolean> {
    if (lengthOf(session) > mostCharacters.ofOne) return Promise.resolve(false);
    this.open();
    const digest = digestOf(key);
    this.#kept?.set(digest, { leftAt: this.#now(), session });
    // Those that are left at once are written at once.
    this.#writing ??= Promise.resolve().then(() => this.#write());
    return this.#writing.then((isWritten) => isWritten && this.#kept?.has(digest) === true);
  }

  async take(key: string, principal: Principal): Promise<LeftSession | undefined> {
    this.open();
    const digest = digestOf(key);
    const found = this.#kept?.get(digest);
    if (found === undefined || !this.#isFresh(found) || principalKey(found.session.principal) !== principalKey(principal)) return undefined;
    this.#kept?.delete(digest);
    return { ...found.session, principal };
  }

  /** Leaves what no agent has come for to the next start: also one that fails takes nothing from it. */
  async close(): Promise<void> {
    if (!this.#isWritten && (this.#kept?.size ?? 0) > 0) await this.#write();
  }

  async #write(): Promise<boolean> {
    this.#writing = undefined;
    this.#isWritten = true;
    const { dir, logger } = this.#options;
    // Also those that no agent has come for yet.
    const fresh = [...(this.#kept ?? [])].filter(([, kept]) => this.#isFresh(kept));
    this.#kept = new Map(thatHaveRoom(fresh));
    const sessions = [...this.#kept].map(([digest, kept]) => ({ digest, ...kept }));
    try {
      ensurePrivateDir(dir, { uid: ownUserId() });
      await writeFileAtomic(this.#file, `${JSON.stringify({ sessions })}\n`, { mode: 0o600, anew: true });
      return true;
    } catch (error) {
      logger.warn('The sessions of agents are not kept: after a restart they begin anew.', { error: messageOf(error) });
      return false;
    }
  }

  #read(): Map<string, Kept> {
    try {
      const text = readPrivateFile(this.#file, { uid: ownUserId() });
      if (text === undefined) return new Map();
      removePrivateFile(this.#file);
      return new Map(parse(text).filter(([, kept]) => this.#isFresh(kept)));
    } catch (error) {
      this.#options.logger.warn('The sessions of the last start are not used: agents begin anew.', { error: messageOf(error) });
      return new Map();
    }
  }

  /** A clock that was set back makes nothing last longer. */
  #isFresh({ leftAt }: Kept): boolean {
    const age = this.#now() - leftAt;
    return age >= 0 && age <= keptMs;
  }
}

function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url');
}

function lengthOf(session: LeftSession): number {
  return JSON.stringify(session).length;
}

/** The oldest first, as they are given. Nobody who leaves many, or large ones, takes the room of others. */
function thatHaveRoom(all: [string, Kept][]): [string, Kept][] {
  const held = new Map<string, { characters: number; lengths: [string, number][] }>();
  let characters = 0;
  for (const [digest, { session }] of all) {
    const length = lengthOf(session);
    const by = principalKey(session.principal);
    const own = held.get(by) ?? { characters: 0, lengths: [] };
    held.set(by, own);
    own.lengths.push([digest, length]);
    own.characters += length;
    characters += length;
  }
  const given = new Set<string>();
  while (characters > mostCharacters.ofAll) {
    const largest = [...held.values()].reduce((one, other) => (other.characters > one.characters ? other : one));
    const [digest, length] = largest.lengths.shift() ?? ['', characters];
    given.add(digest);
    largest.characters -= length;
    characters -= length;
  }
  return all.filter(([digest]) => !given.has(digest));
}

function parse(text: string): [string, Kept][] {
  const found = tryJson(text);
  const sessions: unknown[] = isJsonObject(found) && Array.isArray(found.sessions) ? found.sessions : [];
  return sessions.flatMap((each): [string, Kept][] => {
    if (!isJsonObject(each) || typeof each.digest !== 'string' || typeof each.leftAt !== 'number' || !isJsonObject(each.session)) return [];
    const { principal, version, said } = each.session;
    const isWhole = isJsonObject(principal) && isLegacyVersion(version) && Array.isArray(said) && said.every(isJsonObject);
    return isWhole ? [[each.digest, { leftAt: each.leftAt, session: each.session as unknown as LeftSession }]] : [];
  });
}
