import { BridgeError, type ErrorCode } from '@notebridge/protocol/core/errors';
import { printJson } from '@notebridge/protocol/exact-json';
import type { Logger } from '@notebridge/protocol/util/logger';

/** Why a request is not served: what goes back instead. `detail` is a text, or the list of what is wrong in the body. */
export interface Refusal {
  status: number;
  detail: unknown;
  /** Names and values in turn, as `writeHead` takes them. */
  headers?: readonly string[];
  /** The reason for the audit, one of our own words. */
  reason?: string;
  /** Members beside `detail`. */
  more?: Readonly<Record<string, unknown>>;
}

export function refuse(status: number, detail: unknown, headers?: readonly string[]): Refusal {
  return headers === undefined ? { status, detail } : { status, detail, headers };
}

/** What begins while a hub ends: to another hub, or to this one once it is back, it can be sent again. */
export const hubIsEnding: Refusal = refuse(503, 'This hub is ending. Call again in a moment.', ['retry-after', '1', 'connection', 'close']);

export function isRefusal(value: object): value is Refusal {
  return 'status' in value && 'detail' in value;
}

export function printRefusal({ detail, more }: Refusal): string {
  return printJson({ detail, ...more });
}

/** The statuses of errors of ours; any other error is 500, and its text stays in the log. */
const statusOf: { [Code in ErrorCode]?: number } = {
  bad_json: 400,
  message_too_deep: 400,
  bad_params: 422,
  invalid_arguments: 422,
  bad_grant: 401,
  denied: 403,
  unknown_server: 404,
  not_saved: 409,
  nothing_to_undo: 409,
  changed_since: 409,
  message_too_large: 413,
  budget_exhausted: 429,
  limit_reached: 503,
  closed: 503,
  upstream_unavailable: 503,
  cluster_unavailable: 503,
};

/** The border to HTTP: what a caller may see of an error, or undefined if it may see nothing of it. */
export function toRefusal(error: unknown): Refusal | undefined {
  if (!(error instanceof BridgeError)) return undefined;
  const status = statusOf[error.code];
  if (status === undefined) return undefined;
  const { retry_after_s: retryAfterS } = error.data;
  const headers = status === 401 ? bearerChallenge(true) : retryHeaders(status, retryAfterS);
  return { status, detail: error.message, headers, more: { error_code: error.code } };
}

/** Where a caller learns which authorization server gives tokens for a door, and which scopes open it. */
export interface AuthChallenge {
  metadataUrl: string;
  scope: string;
}

/** What a 401 or 403 says of how to do better. */
export function bearerChallenge(tokenWasSent: boolean, challenge?: AuthChallenge, error = 'invalid_token'): string[] {
  const more = challenge === undefined ? '' : `, resource_metadata="${challenge.metadataUrl}", scope="${challenge.scope}"`;
  return ['www-authenticate', `Bearer realm="notebridge"${tokenWasSent ? `, error="${error}"` : ''}${more}`];
}

function retryHeaders(status: number, retryAfterS: unknown): string[] {
  const seconds = Number(retryAfterS);
  if (seconds > 0 && Number.isFinite(seconds)) return ['retry-after', String(Math.ceil(seconds))];
  return status === 503 ? ['retry-after', '1'] : [];
}

/** Records an unexpected error; the caller gets no more than the id. */
export function logFault(logger: Logger, callId: string, error: unknown): void {
  logger.error('A request failed unexpectedly.', { call_id: callId, error: error instanceof Error ? error.stack : String(error) });
}

export function internalError(callId: string): Refusal {
  return { status: 500, detail: 'Internal error', more: { call_id: callId } };
}
