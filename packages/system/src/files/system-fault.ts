import { BridgeError } from '@notebridge/protocol/core/errors';
import { errnoOf, explain } from '@notebridge/protocol/util/errno';

/** What the system refused, as `write_failed`: what was being done, at which path, why it was refused, and what to do. */
export function systemFault(what: string, path: string, cause: unknown): BridgeError {
  const reason = errnoOf(cause) ?? 'unknown';
  return new BridgeError('write_failed', `${what}: ${explain(cause)}`, { data: { path, reason }, cause });
}
