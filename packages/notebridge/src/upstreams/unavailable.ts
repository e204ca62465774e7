import { BridgeError } from '../core/errors.js';

/** Whether a call that failed may have had an effect: it never reached the server, or nobody knows. */
export type Ran = 'no' | 'unknown';

/** A server cannot answer. `data.ran` says what is known of the call; one that never ran may be sent again. */
export function unavailable(server: string, message: string, ran: Ran, cause?: unknown): BridgeError {
  return new BridgeError('upstream_unavailable', message, { data: { server, ran }, cause });
}

/** The error of calls that were under way when a server went; `how` it went, in words, is kept in `data.how`. */
export function wentAway(server: string, how: string): BridgeError {
  const message = `"${server}" went away while the call ran (${how}). Whether it had an effect is unknown.`;
  return new BridgeError('upstream_unavailable', message, { data: { server, ran: 'unknown', how } });
}
