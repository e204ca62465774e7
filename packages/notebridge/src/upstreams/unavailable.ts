import { BridgeError, codeOf, RemoteError } from '@notebridge/protocol/core/errors';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { UpstreamLimits } from './upstream-limits.js';

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

/** Why a server did not start; `lasting` if a retry can't help before something is fixed. */
export class StartFault extends Error {
  readonly lasting: boolean;
  /** The HTTP status that the server answered with. */
  readonly status: number | undefined;

  constructor(message: string, { lasting, status, cause }: { lasting: boolean; status?: number | undefined; cause?: unknown }) {
    super(message, { cause });
    this.lasting = lasting;
    this.status = status;
  }
}

/** Why a start failed, as the rest of a sentence. */
export function explainStart(error: unknown, { startTimeoutMs }: UpstreamLimits): string {
  if (error instanceof RemoteError) return `it refused to be initialized: ${error.message}`;
  if (codeOf(error) === 'timeout' || (error instanceof DOMException && error.name === 'AbortError'))
    return `it did not answer "initialize" within ${startTimeoutMs} ms`;
  if (error instanceof BridgeError && typeof error.data.how === 'string')
    return `it ended before it answered "initialize" (${error.data.how})`;
  return messageOf(error);
}
