import type { BegunCall } from '@notebridge/protocol/core/call-observer';
import { owner, type Principal, principalKey } from '@notebridge/protocol/core/principal';
import { roughSizeOf } from '@notebridge/protocol/rpc/rough-size';

/** Arguments or results above this are not kept: one call must not push all others out. Bytes. */
const maxKeptBytes = 8 * 1024 * 1024;

/** Of a name that a caller chose. Characters. */
const longestName = 1000;

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
    this.args = keep(begun.args, keeps);
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

  end(outcome: string, result: unknown, { keeps, error }: { keeps: boolean; error: string | undefined }): void {
    this.outcome = clip(outcome);
    this.#cancellation = undefined;
    this.durationMs = performance.now() - this.#startedAt;
    this.result = keep(result, keeps);
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
