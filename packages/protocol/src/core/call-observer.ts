import type { MiddlewareContext } from './middleware.js';
import type { ToolAddress } from './tool-address.js';

/** About how large a value is as JSON; `isComplete` false: it is at least that large, and the rest was not looked at. */
export interface RoughSize {
  bytes: number;
  isComplete: boolean;
}

/** A call that has begun. */
export interface BegunCall {
  context: MiddlewareContext;
  /** Undefined: what it is about is not known. */
  address: ToolAddress | undefined;
  args: unknown;
  /** That of the arguments. Left out: it was not measured yet. */
  size?: RoughSize | undefined;
  /** What the owner called the grant of the caller. */
  label: string | undefined;
}

/**
 * To be called once. `outcome`: as in the audit. `result`: undefined if the call failed. `error`: what its caller was told then. `size`: that of
 * the result; left out, it was not measured yet.
 */
export type EndCall = (outcome: string, result: unknown, error?: string, size?: RoughSize) => void;

/** Learns of each call while it runs, beside the audit, which learns of its end. */
export interface CallObserver {
  /** False: nobody looks, and no call need be told. */
  readonly isOn: boolean;
  /** Never throws. */
  begin(call: BegunCall): EndCall;
}
