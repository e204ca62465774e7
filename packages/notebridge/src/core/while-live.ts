import type { BridgeError } from './errors.js';
import type { Principal } from './principal.js';

/**
 * Calls back once, when the right of the principal to call has ended: its grant was revoked, or has expired. Returns what stops that. The owner's
 * never ends.
 */
export type WhileLive = (principal: Principal, onEnd: (why: BridgeError) => void) => () => void;

export const foreverLive: WhileLive = () => () => {};
