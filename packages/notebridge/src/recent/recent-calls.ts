import type { BegunCall, CallObserver, EndCall } from '@notebridge/protocol/core/call-observer';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { Listeners } from '@notebridge/protocol/util/listeners';
import { SeenCall } from './seen-call.js';

export interface RecentCallsOptions {
  /** False: of each call who made it, and what came of it, and not what was sent and answered. Default true. */
  keeps?: boolean | undefined;
  /** Ended calls that are remembered. Default 1,000. */
  most?: number | undefined;
  /** Of all that was sent and answered, about, as JSON. Bytes. Default 64 MiB. */
  maxBytes?: number | undefined;
}

/** Which calls are meant. What is left out means any. */
export interface CallFilter {
  server?: string | undefined;
  tool?: string | undefined;
  door?: string | undefined;
  /** As in the audit; `running`, or `failed` for all that ended otherwise than `ok`. */
  outcome?: string | undefined;
  /** `owner`, `anonymous`, or the id of a grant. */
  caller?: string | undefined;
  /** The call in whose course they were made. */
  parent?: string | undefined;
}

/**
 * The calls that run, and the last ones that have ended, for their owner to look at: in memory alone, since the audit keeps no more than
 * hashes of what was sent. Nothing is kept before somebody may look.
 */
export class RecentCalls implements CallObserver {
  /** A call has begun or ended. */
  readonly changed = new Listeners<SeenCall>();
  /** True once there is a door by which to look at them. */
  isOn = false;
  readonly #keeps: boolean;
  readonly #most: number;
  readonly #maxBytes: number;
  readonly #running = new Map<string, SeenCall>();
  /** In the order in which they ended. */
  readonly #ended = new Map<string, SeenCall>();
  /** The oldest of those that still have what was sent is looked for from here. */
  readonly #kept = new Set<SeenCall>();
  #bytes = 0;
  #lastId = 0;
  #failed = 0;

  constructor({ keeps = true, most = 1000, maxBytes = 64 * 1024 * 1024 }: RecentCallsOptions = {}) {
    this.#keeps = keeps;
    this.#most = most;
    this.#maxBytes = maxBytes;
  }

  /** Since the hub started. */
  get totals(): { made: number; failed: number; running: number } {
    return { made: this.#lastId, failed: this.#failed, running: this.#running.size };
  }

  begin(begun: BegunCall): EndCall {
    const call = new SeenCall(String(++this.#lastId), begun, { keeps: this.#keeps });
    this.#running.set(call.id, call);
    this.changed.emit(call);
    return (outcome, result, error) => this.#end(call, outcome, result, error);
  }

  find(id: string): SeenCall | undefined {
    return this.#running.get(id) ?? this.#ended.get(id);
  }

  /** The newest first; those that began before the call `before`, at most `limit`. */
  list(filter: CallFilter, { before, limit }: { before?: string | undefined; limit: number }): SeenCall[] {
    const end = before === undefined ? Number.POSITIVE_INFINITY : Number(before);
    const all = [...this.#ended.values(), ...this.#running.values()].filter((call) => Number(call.id) < end && fits(call, filter));
    return all.sort((one, other) => Number(other.id) - Number(one.id)).slice(0, limit);
  }

  /** Asks the call to end, as its caller could. @throws BridgeError `bad_params` if it does not run. */
  cancel(id: string): SeenCall {
    const call = this.#running.get(id);
    if (call === undefined) throw new BridgeError('bad_params', `No call ${JSON.stringify(id)} runs (any more).`);
    call.cancel('The owner of the hub cancelled it.');
    return call;
  }

  #end(call: SeenCall, outcome: string, result: unknown, error: string | undefined): void {
    if (!this.#running.delete(call.id)) return;
    call.end(outcome, result, { keeps: this.#keeps, error });
    if (outcome !== 'ok') this.#failed++;
    this.#ended.set(call.id, call);
    this.#kept.add(call);
    this.#bytes += call.bytes;
    this.#makeRoom();
    this.changed.emit(call);
  }

  #makeRoom(): void {
    for (const [id, call] of this.#ended) {
      if (this.#ended.size <= this.#most) break;
      this.#ended.delete(id);
      this.#forget(call);
    }
    for (const call of this.#kept) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#forget(call);
    }
  }

  #forget(call: SeenCall): void {
    if (!this.#kept.delete(call)) return;
    this.#bytes -= call.bytes;
    call.forget();
  }
}

function fits({ begun: { context, address }, outcome, who }: SeenCall, filter: CallFilter): boolean {
  const { caller } = filter;
  const isOf = caller === undefined || who === caller || who === `grant:${caller}`;
  return (
    isOf &&
    (filter.server === undefined || address?.server === filter.server) &&
    (filter.tool === undefined || address?.tool === filter.tool) &&
    (filter.door === undefined || context.caller.door === filter.door) &&
    (filter.parent === undefined || context.parent?.callId === filter.parent) &&
    (filter.outcome === undefined || hasOutcome(outcome, filter.outcome))
  );
}

function hasOutcome(outcome: string | undefined, wanted: string): boolean {
  if (wanted === 'running') return outcome === undefined;
  return wanted === 'failed' ? outcome !== undefined && outcome !== 'ok' : outcome === wanted;
}
