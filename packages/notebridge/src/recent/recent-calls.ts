import type { BegunCall, CallObserver, EndCall, RoughSize } from '@notebridge/protocol/core/call-observer';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { owner, type Principal, principalKey } from '@notebridge/protocol/core/principal';
import { roughSizeOf } from '@notebridge/protocol/rpc/rough-size';
import { Listeners } from '@notebridge/protocol/util/listeners';

/** Arguments or results above this are not kept: one call must not push all others out. Bytes. */
const maxKeptBytes = 8 * 1024 * 1024;

/** Of a name that a caller chose. Characters. */
const longestName = 1000;

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
    return (...ended) => this.#end(call, ended);
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

  #end(call: SeenCall, ended: Parameters<EndCall>): void {
    if (!this.#running.delete(call.id)) return;
    call.end(ended, this.#keeps);
    if (ended[0] !== 'ok') this.#failed++;
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

/** Who began a call, and what it is about. Never the message that it came with, nor what its session said of itself: they would live as long as it is remembered. */
export interface SeenBegin {
  context: Pick<BegunCall['context'], 'callId' | 'method' | 'parent'> & {
    caller: Pick<BegunCall['context']['caller'], 'door' | 'sessionId'> & { principal: Principal; client: string | null };
  };
  address: BegunCall['address'];
  label: string | undefined;
}

/** What is kept of a value, or how large it was. */
export interface SeenValue {
  value: unknown;
  /** About, as JSON. */
  bytes: number;
  /** True: there was a value, and it is not kept (any more). */
  isGone: boolean;
}

const nothing: SeenValue = { value: undefined, bytes: 0, isGone: false };

/** A call that runs, or has ended not long ago. */
export class SeenCall {
  readonly id: string;
  readonly begun: SeenBegin;
  readonly startedAt = Date.now();
  readonly #startedAt = performance.now();
  args: SeenValue;
  result: SeenValue = nothing;
  /** Undefined while it runs. */
  outcome: string | undefined;
  durationMs: number | undefined;
  /** What its caller was told, where it failed. */
  error: string | undefined;
  #cancellation: BegunCall['context']['cancellation'] | undefined;

  constructor(id: string, begun: BegunCall, { keeps }: { keeps: boolean }) {
    this.id = id;
    this.begun = toSeen(begun);
    this.#cancellation = begun.context.cancellation;
    this.args = keep(begun.args, keeps, begun.size);
  }

  /** Who made it: the same for the same one. */
  get who(): string {
    return principalKey(this.begun.context.caller.principal);
  }

  /** Of what is kept. */
  get bytes(): number {
    return (this.args.isGone ? 0 : this.args.bytes) + (this.result.isGone ? 0 : this.result.bytes);
  }

  /** Asks it to end, if it runs. */
  cancel(reason: string): void {
    this.#cancellation?.cancel(reason, { callerWaits: true });
  }

  end([outcome, result, error, size]: Parameters<EndCall>, keeps: boolean): void {
    this.outcome = clip(outcome);
    this.#cancellation = undefined;
    this.durationMs = performance.now() - this.#startedAt;
    this.result = keep(result, keeps, size);
    // It may quote what was sent.
    this.error = keeps && error !== undefined ? clip(error) : undefined;
  }

  /** Gives up what was sent and answered; that there was a call stays. */
  forget(): void {
    this.args = gone(this.args);
    this.result = gone(this.result);
    this.error = undefined;
  }
}

function toSeen({ context, address, label }: BegunCall): SeenBegin {
  const { callId, method, parent, caller } = context;
  const { principal, door, sessionId, clientInfo } = caller;
  return {
    context: {
      callId: clip(callId),
      method: clip(method),
      parent: parent && { callId: parent.callId },
      caller: {
        principal: principal ?? owner,
        door,
        sessionId,
        client: typeof clientInfo?.name === 'string' ? clip(clientInfo.name) : null,
      },
    },
    address: address && { server: clip(address.server), tool: clip(address.tool) },
    label,
  };
}

/** A part of a text as one of its own: a slice would hold all of it. */
function clip(text: string): string {
  return text.length <= longestName ? text : Buffer.from(`${text.slice(0, longestName)}…`).toString();
}

function keep(value: unknown, keeps: boolean, size?: RoughSize): SeenValue {
  if (value === undefined) return nothing;
  const { bytes, isComplete } = size ?? roughSizeOf(value);
  // Of what was not looked at to the end nobody knows how large it is.
  const fits = keeps && isComplete && bytes <= maxKeptBytes;
  return fits ? { value, bytes, isGone: false } : { value: undefined, bytes, isGone: true };
}

function gone({ value, bytes, isGone }: SeenValue): SeenValue {
  return { value: undefined, bytes, isGone: isGone || value !== undefined };
}
