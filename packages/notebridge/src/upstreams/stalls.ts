import type { Caller } from '@notebridge/protocol/core/call-context';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { principalKey } from '@notebridge/protocol/core/principal';

interface Stalled {
  /** In a row, with no long time between two. */
  times: number;
  lastAt: number;
  /** Until then its calls are refused. */
  until: number;
}

/** Agents that are remembered; the one whose last stall is longest ago gives way. */
const maxAgents = 1000;
/** The first is nobody's fault: a person changes their mind. From the second on an agent waits twice the hold, then twice as long each time. */
const mostDoublings = 5;
/** After so many holds without a stall an agent begins anew. */
const forgivenAfter = 60;

/**
 * What agents cost each other at a server that runs one call at a time: each call that was cancelled and that the server never answered
 * has kept it from all others for the whole hold, and for a restart. Who does that again and again is refused for a while.
 */
export class Stalls {
  readonly #holdMs: number;
  readonly #agents = new Map<string, Stalled>();

  /** `holdMs`: how long such a call keeps the server. */
  constructor(holdMs: number) {
    this.#holdMs = holdMs;
  }

  note(caller: Caller): void {
    const key = agentKeyOf(caller);
    const now = performance.now();
    const known = this.#agents.get(key);
    const times = known === undefined || now - known.lastAt > forgivenAfter * this.#holdMs ? 1 : known.times + 1;
    const waitMs = times === 1 ? 0 : this.#holdMs * 2 ** Math.min(times - 1, mostDoublings);
    this.#agents.delete(key);
    this.#agents.set(key, { times, lastAt: now, until: now + waitMs });
    const [oldest] = this.#agents.keys();
    if (this.#agents.size > maxAgents && oldest !== undefined) this.#agents.delete(oldest);
  }

  /** Why a call of this agent is not made now; undefined if it is. */
  refusalOf(caller: Caller): BridgeError | undefined {
    if (this.#agents.size === 0) return undefined;
    const stalled = this.#agents.get(agentKeyOf(caller));
    const waitMs = stalled === undefined ? 0 : stalled.until - performance.now();
    if (stalled === undefined || waitMs <= 0) return undefined;
    const seconds = Math.ceil(waitMs / 1000);
    return new BridgeError(
      'limit_reached',
      `${stalled.times} calls that you cancelled have each kept this server from all others until it was started anew, since it runs one ` +
        `call at a time and did not answer them. Call it again in ${seconds} s. Nothing was sent.`,
      { data: { retry_after_s: seconds } },
    );
  }
}

/** Whose turn a call takes: of the sessions of the user each is an agent, of those of one grant all together. */
export function agentKeyOf({ principal, sessionId }: Caller): string {
  return principal?.kind === 'grant' ? principalKey(principal) : sessionId;
}
