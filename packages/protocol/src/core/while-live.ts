import type { Cancellation } from './cancellation.js';
import type { BridgeError } from './errors.js';
import type { Principal } from './principal.js';

/**
 * Calls back once, when the right of the principal to call has ended: its grant was revoked, or has expired. Returns what stops that. The owner's
 * never ends.
 */
export type WhileLive = (principal: Principal, onEnd: (why: BridgeError) => void) => () => void;

export const foreverLive: WhileLive = () => () => {};

/** Does work for a principal. If its right to call ends meanwhile, the work is cancelled, and rejects at once with why, whatever becomes of it. */
export function workWhileLive<Result>(
  whileLive: WhileLive,
  { principal, cancellation }: { principal: Principal; cancellation: Cancellation },
  work: () => Promise<Result>,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const stop = whileLive(principal, (why) => {
      reject(why);
      cancellation.withdraw(why);
    });
    const end = (): void => cancellation.whenNotOutlived(stop);
    try {
      work().finally(end).then(resolve, reject);
    } catch (error) {
      end();
      reject(error);
    }
  });
}
