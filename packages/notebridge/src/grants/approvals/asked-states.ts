import { randomBytes } from 'node:crypto';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { MiddlewareContext } from '@notebridge/protocol/core/middleware';
import type { ToolAddress } from '@notebridge/protocol/core/tool-address';
import { type BoundCall, readState, signState } from '@notebridge/protocol/questions/request-state';
import type { ApprovedBy } from '../audit-line.js';
import { isFull, type WhoWaits } from './pending-approvals.js';
import type { ReadableCall } from './readable-call.js';

/** What an agent of the modern era that calls again has been asked, or was approved. */
export type Kept =
  /** `key`: what a yes for the session would be for. */
  | { kind: 'asked'; key: string }
  /** It was approved, and its server asks something: `inner` is the server's own state. */
  | { kind: 'approved'; by: ApprovedBy; inner: unknown };

/** One call as it is bound: of this caller, to this tool, with exactly what it says. */
export interface AskedCallOf extends ReadableCall {
  address: ToolAddress;
  who: WhoWaits;
  context: MiddlewareContext;
}

/** The `requestState`s of calls that wait for their agent to call again. Each is taken once, and ends with the time to answer. */
export class AskedStates {
  readonly #kept = new Map<string, { kept: Kept; who: WhoWaits; timer: NodeJS.Timeout }>();
  readonly #timeoutMs: number;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** @throws BridgeError `limit_reached`. */
  keep(call: AskedCallOf, kept: Kept): string {
    const { who } = call;
    if (isFull(this.#kept.values(), who))
      throw new BridgeError('limit_reached', 'As many calls as may already wait for an approval; answer those first. It was not made.');
    const id = `approval-${randomBytes(12).toString('base64url')}`;
    const timer = setTimeout(() => this.#kept.delete(id), this.#timeoutMs).unref();
    this.#kept.set(id, { kept, who, timer });
    return signState(id, toBound(call));
  }

  /** Takes what a state stands for; undefined for one that was not issued for exactly this call and caller, was taken, or has ended. */
  take(state: unknown, call: AskedCallOf): Kept | undefined {
    const id = readState(state, toBound(call));
    const found = id === undefined ? undefined : this.#kept.get(id);
    if (id === undefined || found === undefined) return undefined;
    clearTimeout(found.timer);
    this.#kept.delete(id);
    return found.kept;
  }

  /** Closing twice is harmless. */
  close(): void {
    for (const { timer } of this.#kept.values()) clearTimeout(timer);
    this.#kept.clear();
  }
}

/** What it says as text: numbers that JavaScript cannot hold are told apart. */
function toBound({ address: { server, tool }, exact, beside, context }: AskedCallOf): BoundCall {
  const { method, message } = context;
  return { server: `${server}\n${tool}`, method, params: { name: message.name, arguments: [exact, beside] }, context };
}
