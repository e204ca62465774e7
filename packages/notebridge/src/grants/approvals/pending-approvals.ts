import { randomBytes } from 'node:crypto';
import type { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { ShownCall } from './approval-text.js';

/** What was decided: for this call, for all of this tool in this session, or not. */
export type Decision = 'once' | 'session' | 'deny';
/** What became of a question. */
export type ApprovalOutcome = Decision | 'timeout' | 'cancelled' | 'closed';

/** A call that waits for its owner. */
export interface PendingApproval extends Pick<ShownCall, 'server' | 'tool' | 'arguments' | 'caller'> {
  id: string;
  /** Milliseconds since the epoch. */
  since: number;
  /** Then it is refused. */
  endsAt: number;
}

interface Waiting {
  view: PendingApproval;
  whole: () => string;
  /** One tool of one session: what is approved for that is approved for all of it. */
  key: string;
  who: WhoWaits;
  end: (outcome: ApprovalOutcome) => void;
}

/** The calls that wait for an answer of their owner, who is asked by no agent: `notebridge approvals`. */
export class PendingApprovals {
  /** True once the owner has a door by which to see them; before that nobody would ever answer. */
  isWatched = false;
  readonly #waiting = new Map<string, Waiting>();
  #isClosed = false;

  /** Waits for the owner. Rejects with `limit_reached`. */
  wait(
    shown: ShownCall,
    {
      key,
      who,
      cancellation,
      timeoutMs,
      onAdded,
    }: { key: string; who: WhoWaits; cancellation: Cancellation; timeoutMs: number; onAdded: (id: string) => void },
  ): Promise<ApprovalOutcome> {
    if (this.#isClosed) return Promise.resolve('closed');
    if (isFull(this.#waiting.values(), who)) {
      const { ofAgent, ofPrincipal, ofAll } = mostWaiting;
      const text = `As many calls as may already wait for the owner's approval (${ofAgent} of one agent, ${ofPrincipal} with the same rights, ${ofAll} in all). It was not made.`;
      return Promise.reject(new BridgeError('limit_reached', text));
    }
    const id = `a_${randomBytes(6).toString('hex')}`;
    const since = Date.now();
    const { server, tool, arguments: args, caller, whole } = shown;
    return new Promise((resolve) => {
      let stopListening: (() => void) | undefined;
      const end = (outcome: ApprovalOutcome): void => {
        clearTimeout(timer);
        stopListening?.();
        this.#waiting.delete(id);
        resolve(outcome);
      };
      const timer = setTimeout(() => end('timeout'), timeoutMs).unref();
      this.#waiting.set(id, {
        view: { id, server, tool, arguments: args, caller, since, endsAt: since + timeoutMs },
        whole,
        key,
        who,
        end,
      });
      onAdded(id);
      stopListening = cancellation.onCancel(() => end('cancelled'));
    });
  }

  /** Oldest first. */
  list(): PendingApproval[] {
    return [...this.#waiting.values()].map(({ view }) => view);
  }

  /** One that waits, with its arguments whole. @throws BridgeError `bad_params` if none of that id waits. */
  show(id: string): PendingApproval {
    const { view, whole } = this.#find(id);
    return { ...view, arguments: whole() };
  }

  /** Answers one; with `session` also the others of the same tool and session. @throws BridgeError `bad_params` if none of that id waits. */
  decide(id: string, decision: Decision): PendingApproval {
    const waiting = this.#find(id);
    waiting.end(decision);
    if (decision === 'session') for (const other of [...this.#waiting.values()]) if (other.key === waiting.key) other.end('session');
    return waiting.view;
  }

  /** Refuses all, and whatever comes later. Closing twice is harmless. */
  close(): void {
    this.#isClosed = true;
    for (const { end } of [...this.#waiting.values()]) end('closed');
  }

  #find(id: string): Waiting {
    const waiting = this.#waiting.get(id);
    if (waiting !== undefined) return waiting;
    throw new BridgeError('bad_params', `No call waits for approval under ${JSON.stringify(id)} (any more). See: notebridge approvals`);
  }
}

/** In whose name a call waits for a person. */
export interface WhoWaits {
  /** With which rights: a grant, the owner. */
  readonly principal: string;
  /** One agent, as far as the wire tells: a grant may have many. */
  readonly agent: string;
}

/** Calls that wait at once: of one agent, of all with the same rights, and of all. */
const mostWaiting = { ofAgent: 64, ofPrincipal: 256, ofAll: 1000 };

/** True if no more calls of this one may wait: it shall not keep others out, whatever it calls itself. */
export function isFull(waiting: Iterable<{ readonly who: WhoWaits }>, { principal, agent }: WhoWaits): boolean {
  let [ofAgent, ofPrincipal, ofAll] = [0, 0, 0];
  for (const { who } of waiting) {
    ofAll++;
    if (who.principal !== principal) continue;
    ofPrincipal++;
    if (who.agent === agent) ofAgent++;
  }
  return ofAgent >= mostWaiting.ofAgent || ofPrincipal >= mostWaiting.ofPrincipal || ofAll >= mostWaiting.ofAll;
}
