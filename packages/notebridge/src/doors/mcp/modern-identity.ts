import { randomUUID } from 'node:crypto';
import type { Caller } from '../../core/call-context.js';
import type { Principal } from '../../core/principal.js';
import { nameOfClient, type WatchedAgent } from '../../recent/watched-agents.js';

/** Clients under one token may call themselves anything, and anew in each request. */
const mostNames = 8;

/** A principal whose calls share one session id, since the modern era has no sessions. */
export class ModernIdentity implements WatchedAgent {
  readonly sessionId: string;
  readonly door = 'http';
  readonly era = 'modern';
  readonly principal: Principal;
  readonly since = Date.now();
  /** By the clock of the door. */
  lastHeard = 0;
  running = 0;
  /** Of those that run the ones that listen. */
  listening = 0;
  readonly #now: () => number;
  readonly #names = new Set<string>();

  constructor(principal: Principal, now: () => number, sessionId: string = randomUUID()) {
    this.principal = principal;
    this.sessionId = sessionId;
    this.#now = now;
  }

  get names(): readonly string[] {
    return [...this.#names];
  }

  get lastCallAt(): number {
    return Date.now() - Math.round(this.#now() - this.lastHeard);
  }

  get inFlight(): number {
    return this.running;
  }

  /** True if it has not called itself so before. */
  noteName(clientInfo: Caller['clientInfo']): boolean {
    const name = nameOfClient(clientInfo);
    if (name === undefined || this.#names.has(name)) return false;
    for (const oldest of this.#names) {
      if (this.#names.size < mostNames) break;
      this.#names.delete(oldest);
    }
    this.#names.add(name);
    return true;
  }
}
