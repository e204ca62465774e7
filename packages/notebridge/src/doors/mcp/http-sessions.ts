import { owner, type Principal, principalKey } from '../../core/principal.js';
import type { Hub } from '../../hub.js';
import type { McpHttpLimits } from './http-call.js';
import { HttpSession } from './http-session.js';
import { AllSentEvents } from './sent-events.js';

export interface HttpSessionsOptions {
  hub: Hub;
  limits: McpHttpLimits;
  now: () => number;
  /** A session has ended: what was held for it alone can go. */
  endSession: (sessionId: string) => void;
}

/** The legacy agents by their `Mcp-Session-Id`. */
export class HttpSessions {
  readonly #options: HttpSessionsOptions;
  readonly #sessions = new Map<string, HttpSession>();
  readonly #allSent: AllSentEvents;

  constructor(options: HttpSessionsOptions) {
    this.#options = options;
    this.#allSent = new AllSentEvents(options);
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** A new session; undefined if the limit is reached, and no other principal has more than this one. */
  open(principal: Principal): HttpSession | undefined {
    const { hub, limits, now } = this.#options;
    if (this.#sessions.size >= limits.maxSessions) this.sweep();
    if (this.#sessions.size >= limits.maxSessions && !this.#makeRoom(principal)) return undefined;
    const end = (): void => this.end(session);
    const session: HttpSession = new HttpSession({ hub, principal, limits, allSent: this.#allSent, end });
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

  end(session: HttpSession): void {
    if (!this.#sessions.delete(session.key)) return;
    session.close();
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

  /** Ends the streams of all; requests that run may still be answered. */
  endStreams(): void {
    for (const session of this.#sessions.values()) session.endStreams();
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
