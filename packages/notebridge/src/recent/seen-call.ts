import type { BegunCall } from '../core/call-observer.js';
import { owner, principalKey } from '../core/principal.js';
import { roughSizeOf } from '../rpc/rough-size.js';

/** Arguments or results above this are not kept: one call must not push all others out. Bytes. */
const maxKeptBytes = 8 * 1024 * 1024;

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
  readonly begun: BegunCall;
  readonly startedAt = Date.now();
  readonly #startedAt = performance.now();
  args: SeenValue;
  result: SeenValue = nothing;
  /** Undefined while it runs. */
  outcome: string | undefined;
  durationMs: number | undefined;

  constructor(id: string, begun: BegunCall, { keeps }: { keeps: boolean }) {
    this.id = id;
    this.begun = begun;
    this.args = keep(begun.args, keeps);
  }

  /** Who made it: the same for the same one. */
  get who(): string {
    return principalKey(this.begun.context.caller.principal ?? owner);
  }

  /** Of what is kept. */
  get bytes(): number {
    return (this.args.isGone ? 0 : this.args.bytes) + (this.result.isGone ? 0 : this.result.bytes);
  }

  end(outcome: string, result: unknown, { keeps }: { keeps: boolean }): void {
    this.outcome = outcome;
    this.durationMs = performance.now() - this.#startedAt;
    this.result = keep(result, keeps);
  }

  /** Gives up what was sent and answered; that there was a call stays. */
  forget(): void {
    this.args = gone(this.args);
    this.result = gone(this.result);
  }
}

function keep(value: unknown, keeps: boolean): SeenValue {
  if (value === undefined) return nothing;
  const { bytes, isComplete } = roughSizeOf(value);
  // Of what was not looked at to the end nobody knows how large it is.
  const fits = keeps && isComplete && bytes <= maxKeptBytes;
  return fits ? { value, bytes, isGone: false } : { value: undefined, bytes, isGone: true };
}

function gone({ value, bytes, isGone }: SeenValue): SeenValue {
  return { value: undefined, bytes, isGone: isGone || value !== undefined };
}
