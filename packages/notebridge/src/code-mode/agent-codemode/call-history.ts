import { type Principal, principalKey } from '../../core/principal.js';
import type { CallRecord } from '../execution/nested-calls.js';

/** A call that code has made. */
export interface PastCall {
  tool: string;
  outcome: string;
  seconds: number;
}

const mostCalls = 200;
const mostPrincipals = 200;

/** The last calls of the code of each agent. */
export class CallHistory {
  readonly #byPrincipal = new Map<string, { calls: PastCall[]; total: number }>();

  add(callers: readonly Principal[], { tool, outcome }: CallRecord, seconds: number): void {
    for (const caller of callers) {
      const key = principalKey(caller);
      const past = this.#byPrincipal.get(key) ?? { calls: [], total: 0 };
      // Whoever called last is forgotten last.
      this.#byPrincipal.delete(key);
      this.#byPrincipal.set(key, past);
      past.total++;
      past.calls.push({ tool, outcome, seconds });
      if (past.calls.length > mostCalls) past.calls.shift();
    }
    const [oldest] = this.#byPrincipal.keys();
    if (this.#byPrincipal.size > mostPrincipals && oldest !== undefined) this.#byPrincipal.delete(oldest);
  }

  of(principal: Principal): { calls: readonly PastCall[]; total: number } {
    return this.#byPrincipal.get(principalKey(principal)) ?? { calls: [], total: 0 };
  }
}
