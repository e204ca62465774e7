import { BridgeError } from '@notebridge/protocol/core/errors';
import { owner, type Principal, principalKey } from '@notebridge/protocol/core/principal';
import { settlesWithin } from '@notebridge/protocol/util/settles-within';
import type { SessionShelf } from '@notebridge/system/files/session-shelf';
import type { Hub } from '../../hub.js';
import type { McpHttpLimits } from './http-call.js';
import { HttpSession, type HttpSessionOptions } from './http-session.js';
import { AllSentEvents } from './resumable-stream.js';

export interface HttpSessionsOptions {
  hub: Hub;
  limits: McpHttpLimits;
  now: () => number;
  /** Ends the ids of sessions. Default: nothing does. */
  mark?: string | undefined;
  /** Where sessions are left at the end. Default: they end with this hub. */
  shelf?: SessionShelf | undefined;
  /** A session that began at another hub goes on here: what its agent used there may be gone. */
  adopted?: ((sessionId: string) => void) | undefined;
  /** A session has ended: what was held for it alone can go. */
  endSession: (sessionId: string) => void;
}

/** How long the store may take for a session: a hub ends in time, with or without it. Milliseconds. */
const leaveMs = 1500;

/** The legacy agents by their `Mcp-Session-Id`. */
export class HttpSessions {
  readonly #options: HttpSessionsOptions;
  readonly #sessions = new Map<string, HttpSession>();
  readonly #allSent: AllSentEvents;
  /** Requests of one session that come at once wait for the same. */
  readonly #adopting = new Map<string, Promise<string | undefined>>();

  constructor(options: HttpSessionsOptions) {
    this.#options = options;
    this.#allSent = new AllSentEvents(options);
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** A new session; undefined if the limit is reached, and no other principal has more than this one. */
  open(principal: Principal): HttpSession | undefined {
    return this.#add(principal);
  }

  /** True if a session of that id is here. */
  has(key: string): boolean {
    return this.#sessions.has(key);
  }

  /** True if a request of the session of that id is not answered yet, or its agent is to fetch the answer. */
  isCalling(key: string): boolean {
    return this.#sessions.get(key)?.isCalling === true;
  }

  /**
   * Goes on with a session that another hub has left. Resolves to the mark of the hub that has it, if that is another; undefined: it is here, or
   * nowhere. Rejects with `cluster_unavailable` if that is not known.
   */
  adopt(key: string, principal: Principal): Promise<string | undefined> {
    const name = `${principalKey(principal)} ${key}`;
    const adopting = this.#adopting.get(name) ?? this.#adopt(key, principal).finally(() => this.#adopting.delete(name));
    this.#adopting.set(name, adopting);
    return adopting;
  }

  async #adopt(key: string, principal: Principal): Promise<string | undefined> {
    const left = await this.#options.shelf?.take(key, principal);
    if (left === undefined || this.#sessions.has(key)) return undefined;
    if ('at' in left) return left.at === this.#options.mark ? undefined : left.at;
    const session = this.#add(left.principal, { ...left, key });
    if (session !== undefined) this.#options.adopted?.(session.sessionId);
    return undefined;
  }

  /** Leaves those that nothing runs in for another hub. Each is left once, and ends here. */
  leaveIdle(): Promise<void> {
    return this.#leave(({ isCalling }) => !isCalling);
  }

  /** Leaves all. What still runs is answered with an error: it was given its time. */
  leaveAll(): Promise<void> {
    return this.#leave(() => true);
  }

  async #leave(isMeant: (session: HttpSession) => boolean): Promise<void> {
    const { shelf } = this.#options;
    if (shelf === undefined) return;
    const leave = async (session: HttpSession): Promise<void> => {
      const { key, left } = session;
      if (left === undefined || !isMeant(session) || !this.#sessions.delete(key)) return;
      // Left before its agent hears that it is: that one may come back at once.
      const leaving = shelf.leave(key, left);
      const isLeft = (await settlesWithin(leaving, leaveMs)) && (await leaving);
      session.close(isLeft ? goesOn() : undefined);
      this.#options.endSession(session.sessionId);
    };
    await Promise.all([...this.#sessions.values()].map(leave));
  }

  #add(principal: Principal, left?: HttpSessionOptions['left']): HttpSession | undefined {
    const { hub, limits, now, mark } = this.#options;
    if (this.#sessions.size >= limits.maxSessions) this.sweep();
    if (this.#sessions.size >= limits.maxSessions && !this.#makeRoom(principal)) return undefined;
    const end = (why?: BridgeError): void => this.end(session, why);
    const session: HttpSession = new HttpSession({ hub, principal, limits, allSent: this.#allSent, end, left, mark });
    session.lastHeard = now();
    this.#sessions.set(session.key, session);
    return session;
  }

  /** The session of that id, if it is the principal's own: to any other it does not exist. */
  find(key: string, principal: Principal): HttpSession | undefined {
    const session = this.#sessions.get(key);
    if (session === undefined || principalKey(session.principal) !== principalKey(principal)) return undefined;
    if (this.#isOver(session)) return void this.end(session);
    session.lastHeard = this.#options.now();
    return session;
  }

  /** `why`: what calls that run are told. */
  end(session: HttpSession, why?: BridgeError): void {
    if (!this.#sessions.delete(session.key)) return;
    session.close(why);
    this.#options.endSession(session.sessionId);
  }

  /** Ends the sessions that have been idle for too long, and forgets what was kept of streams for too long. */
  sweep(): void {
    for (const session of [...this.#sessions.values()]) {
      session.sweep();
      // The time that counts begins when the last answer was given, or the last stream was closed.
      if (session.isBusy) session.lastHeard = this.#options.now();
      else if (this.#isOver(session)) this.end(session);
    }
  }

  /** Ends the streams of all; requests that run may still be answered. `retryMs`: when agents may open them anew, if not as usual. */
  endStreams(retryMs: number | undefined): void {
    for (const session of this.#sessions.values()) session.endStreams(retryMs);
  }

  close(): void {
    for (const session of [...this.#sessions.values()]) this.end(session);
  }

  /**
   * The principal with the most gives one up, to the owner, or to one with fewer: the one that has been idle for the longest time,
   * else the newest. The owner gives up none. So clients that leave their sessions open cannot shut out others.
   */
  #makeRoom(newcomer: Principal): boolean {
    const held = new Map<string, HttpSession[]>();
    for (const session of this.#sessions.values()) {
      const key = principalKey(session.principal);
      const sessions = held.get(key);
      if (sessions === undefined) held.set(key, [session]);
      else sessions.push(session);
    }
    const own = held.get(principalKey(newcomer))?.length ?? 0;
    held.delete(principalKey(owner));
    const most = [...held.values()].reduce((found, each) => (each.length > found.length ? each : found), []);
    if (most.length <= (newcomer.kind === 'owner' ? 0 : own + 1)) return false;
    const idle = most.filter(({ isBusy }) => !isBusy).sort((one, other) => one.lastHeard - other.lastHeard);
    const given = idle[0] ?? most.at(-1);
    if (given !== undefined) this.end(given);
    return given !== undefined;
  }

  #isOver(session: HttpSession): boolean {
    return !session.isBusy && this.#options.now() - session.lastHeard >= this.#options.limits.sessionIdleMs;
  }
}

/** Of calls that still ran in it. */
function goesOn(): BridgeError {
  const message =
    'This hub has ended, and another goes on with the session, or this one if it is started again at once. Whether the call had an effect is unknown; it was not repeated.';
  return new BridgeError('closed', message);
}
