import { createHash } from 'node:crypto';
import { type Principal, principalKey } from '@notebridge/protocol/core/principal';
import { printJson } from '@notebridge/protocol/exact-json';
import type { RpcRequest } from '@notebridge/protocol/rpc/messages';

/** So many are remembered of one principal, and of all; of more the oldest are forgotten. */
const most = { ofOne: 256, ofAll: 4096 };
/** A call waits so long at most for what its agent was asked. Milliseconds. */
const keptMs = 10 * 60_000;

/** `count`: a server may give calls that are the same one state. */
interface Asked {
  askedAt: number;
  count: number;
  by: string;
}

/**
 * The questions that agents of the modern era have not answered yet: who called, for what, and by which `requestState` the call goes on. A server makes
 * its states as it likes, so that a state alone says nothing.
 */
export class UnansweredStates {
  readonly #now: () => number;
  /** The oldest first. */
  readonly #asked = new Map<string, Asked>();
  readonly #waiting: (() => void)[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The principal's request was answered by a question, if there is a state. */
  add(principal: Principal, request: RpcRequest, state: unknown): void {
    const key = keyOf(principal, request, state);
    if (key === undefined) return;
    const count = (this.#asked.get(key)?.count ?? 0) + 1;
    this.#asked.delete(key);
    this.#asked.set(key, { askedAt: this.#now(), count, by: principalKey(principal) });
    this.#makeRoom(principalKey(principal));
  }

  /** True if the request brings the answer to a question of the same call. */
  has(principal: Principal, request: RpcRequest): boolean {
    const key = this.#asked.size === 0 ? undefined : keyOf(principal, request, request.params?.requestState);
    return key !== undefined && this.#asked.has(key);
  }

  /** It goes on with its answer. Returns what is to be called if that was refused, and is to be sent again. */
  take(principal: Principal, request: RpcRequest): () => void {
    const state = request.params?.requestState;
    const key = this.#asked.size === 0 ? undefined : keyOf(principal, request, state);
    const asked = key === undefined ? undefined : this.#asked.get(key);
    if (key === undefined || asked === undefined) return () => {};
    asked.count--;
    if (asked.count === 0) this.#forget(key);
    return () => this.add(principal, request, state);
  }

  /** Resolves when nothing waits that may still be answered. */
  async none(): Promise<void> {
    for (const [key, { askedAt }] of this.#asked) if (this.#now() - askedAt >= keptMs) this.#asked.delete(key);
    if (this.#asked.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #forget(key: string): void {
    this.#asked.delete(key);
    if (this.#asked.size === 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #makeRoom(by: string): void {
    const own = [...this.#asked].filter(([, asked]) => asked.by === by);
    const [oldest] = own.length > most.ofOne ? own : this.#asked.size > most.ofAll ? this.#asked : [];
    if (oldest !== undefined) this.#asked.delete(oldest[0]);
  }
}

/** The call as it is asked for: the envelope, and what answers, differ each time. Undefined without a state, or if it is nested too deeply. */
function keyOf(principal: Principal, { method, params = {} }: RpcRequest, state: unknown): string | undefined {
  if (typeof state !== 'string') return undefined;
  const { _meta, inputResponses, requestState, ...call } = params;
  try {
    return createHash('sha256')
      .update(printJson([principalKey(principal), method, call, state]))
      .digest('base64url');
  } catch {
    return undefined;
  }
}
