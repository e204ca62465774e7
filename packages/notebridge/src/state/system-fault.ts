import { errnoOf, explain } from '@notebridge/kit/errno';
import { BridgeError } from '../core/errors.js';

/** What the system refused, as `write_failed`: what was being done, at which path, why it was refused, and what to do. */
export function systemFault(what: string, path: string, cause: unknown): BridgeError {
  const reason = errnoOf(cause) ?? 'unknown';
  return new BridgeError('write_failed', `${what}: ${explain(cause)}`, { data: { path, reason }, cause });
}
