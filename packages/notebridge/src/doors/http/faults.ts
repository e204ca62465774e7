import type { Logger } from '@notebridge/kit/logger';
import type { Refusal } from './refusal.js';

/** Records an unexpected error; the caller gets no more than the id. */
export function logFault(logger: Logger, callId: string, error: unknown): void {
  logger.error('A request failed unexpectedly.', { call_id: callId, error: error instanceof Error ? error.stack : String(error) });
}

export function internalError(callId: string): Refusal {
  return { status: 500, detail: 'Internal error', more: { call_id: callId } };
}
