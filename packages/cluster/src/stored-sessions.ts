import { createHash } from 'node:crypto';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { type Principal, principalKey } from '@notebridge/protocol/core/principal';
import { isJsonObject } from '@notebridge/protocol/json';
import { keepLatest } from '@notebridge/protocol/util/keep-latest';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { LeftSession, SessionShelf } from '@notebridge/system/files/session-shelf';
import { StoreConflict, type StoredEntry } from '@notebridge/system/files/shared-store';
import type { ClusterParts, HubView, Membership } from './cluster-parts.js';

/** How long an agent may take to come to another hub. Milliseconds. */
const keptMs = 10 * 60_000;
/** How long it is known which hub has taken one. An agent that uses it for longer, and through other hubs, begins anew. Milliseconds. */
const takenMs = 7 * 24 * 60 * 60_000;
/** A hub that ends leaves its sessions one after the other: an agent may be quicker. Milliseconds. */
const waitMs = 2500;
const pollMs = 100;
const mostCharacters = 200_000;
/** Sessions of which it is remembered that this hub was to take them, at most. */
const maxTried = 1_000;

/** `left`: whether this hub has it is unknown, as its write had no answer. Undefined: it was given to its agent. */
interface Tried {
  revision: number;
  left: LeftSession | undefined;
}

type SessionParts = Pick<ClusterParts, 'store' | 'runtime' | 'logger'> & { membership: Pick<Membership, 'hubs' | 'self'> };

/** The sessions that hubs of a cluster leave when they end. */
export class StoredSessions implements SessionShelf {
  readonly #options: SessionParts;
  readonly #tried = new Map<string, Tried>();

  constructor(options: SessionParts) {
    this.#options = options;
  }

  async leave(key: string, session: LeftSession): Promise<boolean> {
    const { logger } = this.#options;
    const value = JSON.stringify(session);
    if (value.length > mostCharacters) return false;
    try {
      await this.#write(keyOf(key), value);
      return true;
    } catch (error) {
      logger.warn('A session is not handed over: its agent has to begin anew.', { error: messageOf(error) });
      return false;
    }
  }

  async take(key: string, principal: Principal): Promise<LeftSession | { at: string } | undefined> {
    const { runtime } = this.#options;
    const deadline = runtime.steady() + waitMs;
    for (;;) {
      const taken = await this.#tryToTake(key, principal);
      const isSettled = taken !== undefined && !('at' in taken && this.#isEnding(taken.at));
      if (isSettled || !this.#isSomebodyEnding || runtime.steady() >= deadline) return taken;
      await new Promise<void>((resolve) => runtime.after(pollMs, resolve));
    }
  }

  /** Over what says who had taken it last. */
  async #write(key: string, value: string): Promise<void> {
    const { store } = this.#options;
    try {
      await store.create(key, value, { ttlMs: keptMs });
    } catch (error) {
      const before = error instanceof StoreConflict ? await store.get(key) : undefined;
      if (before === undefined) throw error;
      await store.update(key, value, before.revision, { ttlMs: keptMs });
    }
  }

  #isEnding(mark: string): boolean {
    return this.#options.membership.hubs().some((hub) => hub.isDraining && markOfHub(hub) === mark);
  }

  get #isSomebodyEnding(): boolean {
    const { membership } = this.#options;
    return membership.hubs().some(({ id, isDraining }) => isDraining && id !== membership.self.id);
  }

  /** Only who writes over it has it. What is left in its place leads other hubs here. */
  async #tryToTake(key: string, principal: Principal): Promise<LeftSession | { at: string } | undefined> {
    const { store, membership } = this.#options;
    const self = { at: markOfHub(membership.self) };
    try {
      const found = await store.get(keyOf(key));
      const left = found && parseLeft(found.value);
      if (found === undefined || left === undefined) return undefined;
      if ('at' in left) return left.at === self.at ? (this.#giveTried(found.key, principal) ?? left) : left;
      if (principalKey(left.principal) !== principalKey(principal)) return undefined;
      // An old read: it was given to its agent here, and is not given again.
      if (this.#isGiven(found)) return self;
      await this.#takeOver(found, left, JSON.stringify(self));
      return left;
    } catch (error) {
      // Another hub was faster, or this one was whose answer was lost: who it is stands there.
      if (error instanceof StoreConflict) return this.#tryToTake(key, principal);
      throw new BridgeError(
        'cluster_unavailable',
        'Whether this session goes on here is not known: the cluster does not answer. Try again.',
        {
          cause: error,
        },
      );
    }
  }

  async #takeOver({ key, revision }: StoredEntry, left: LeftSession, value: string): Promise<void> {
    try {
      await this.#options.store.update(key, value, revision, { ttlMs: takenMs });
      this.#remember(key, { revision, left: undefined });
    } catch (error) {
      // The write may have been made, and be found when the agent tries again: nobody else has the session then.
      if (!(error instanceof StoreConflict)) this.#remember(key, { revision, left });
      throw error;
    }
  }

  #isGiven({ key, revision }: StoredEntry): boolean {
    const tried = this.#tried.get(key);
    return tried !== undefined && tried.left === undefined && revision <= tried.revision;
  }

  /** This hub stands there as the one that has it. What its own write without an answer has taken is still to be given to the agent. */
  #giveTried(key: string, principal: Principal): LeftSession | undefined {
    const { left, revision } = this.#tried.get(key) ?? {};
    if (left === undefined || revision === undefined || principalKey(left.principal) !== principalKey(principal)) return undefined;
    this.#remember(key, { revision, left: undefined });
    return left;
  }

  #remember(key: string, tried: Tried): void {
    keepLatest(this.#tried, [key, tried], maxTried);
  }
}

function keyOf(key: string): string {
  return `session.${createHash('sha256').update(key).digest('base64url')}`;
}

function parseLeft(value: string): LeftSession | { at: string } | undefined {
  const left: unknown = JSON.parse(value);
  if (!isJsonObject(left)) return undefined;
  const { at, principal, version, said } = left;
  if (typeof at === 'string') return { at };
  return isJsonObject(principal) && typeof version === 'string' && Array.isArray(said) ? (left as unknown as LeftSession) : undefined;
}

/** The process of a hub, as the ids of its sessions end: its id changes when it has lost its lease, and its sessions stay; its name may be another's, too. */
export function markOfHub({ name, startedAt }: Pick<HubView, 'name' | 'startedAt'>): string {
  return Buffer.from(`${startedAt.toString(36)} ${name}`).toString('base64url');
}
