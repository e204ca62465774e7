import { messageOf } from '@notebridge/kit/message-of';
import { BridgeError, codeOf, RemoteError } from '../core/errors.js';
import type { UpstreamLimits } from './upstream-limits.js';

/** Why a start failed, as the rest of a sentence. */
export function explainStart(error: unknown, { startTimeoutMs }: UpstreamLimits): string {
  if (error instanceof RemoteError) return `it refused to be initialized: ${error.message}`;
  if (codeOf(error) === 'timeout' || (error instanceof DOMException && error.name === 'AbortError'))
    return `it did not answer "initialize" within ${startTimeoutMs} ms`;
  if (error instanceof BridgeError && typeof error.data.how === 'string')
    return `it ended before it answered "initialize" (${error.data.how})`;
  return messageOf(error);
}
