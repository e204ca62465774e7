import { ExactNumber, isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { errnoOf } from '@notebridge/protocol/util/errno';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { tryJson } from '@notebridge/protocol/util/try-json';
import { fromTransport } from './exact-fetch.js';
import type { Ran } from './unavailable.js';

/** What it means that an HTTP request of ours failed. */
export interface UpstreamHttpFault {
  /** What it was answered with; undefined if with nothing. */
  status?: number | undefined;
  /** In words, as the rest of a sentence. */
  words: string;
  /** Whether a call of that request may have had an effect. */
  ran: Ran;
  /** The server is not there, or has forgotten our session: it needs a new handshake. */
  isGone: boolean;
  /** A retry can't help until something is fixed. */
  isLasting: boolean;
  /** The JSON-RPC error that the server sent with a bad status. */
  answer?: JsonObject | undefined;
}

/** Errors of a connection that was never made, so that nothing can have run. */
const neverConnected = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);

const brokenCodes: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** Classifies the failures of an HTTP request, from what `fetch` and the SDK's transports throw. */
export function explainHttpFault(error: unknown, hasSession = false): UpstreamHttpFault {
  const { status, text } = httpStatusOf(error);
  if (status === undefined) return explainBrokenConnection(error);
  const words = `it answered with HTTP ${status}`;
  if (hasSession && isSessionLost(status, text)) {
    return { words: `it has forgotten our session (HTTP ${status})`, ran: 'no', isGone: true, isLasting: false };
  }
  if (status === 401 || status === 403) {
    return { words: `${words}: it refuses us; look at "headers" in its config`, ran: 'no', isGone: false, isLasting: true, status };
  }
  const answer = toErrorObject(text);
  return { words, ran: status < 500 ? 'no' : 'unknown', isGone: false, isLasting: status === 404 || status === 405, answer };
}

/** The connection broke, perhaps one that a server was just closing since nothing came on it: what was sent may have arrived or not. */
export function isConnectionBroken(error: unknown): boolean {
  return brokenCodes.has(errnoInside(error) ?? '');
}

function explainBrokenConnection(error: unknown): UpstreamHttpFault {
  const errno = errnoInside(error);
  if (errno !== undefined && neverConnected.has(errno)) {
    return { words: `nothing answers at its address (${errno})`, ran: 'no', isGone: true, isLasting: false };
  }
  const words = errno === undefined ? (messageOf(error).split('\n')[0] ?? '') : `the connection broke (${errno})`;
  return { words, ran: 'unknown', isGone: false, isLasting: false };
}

/** 404 under a session id, as the transport's specification has it; but many servers answer 400 and say it in words. */
function isSessionLost(status: number, text: string): boolean {
  return status === 404 || (status === 400 && /session/i.test(text));
}

/** `fetch` wraps what happened, and a name with several addresses has several failures. */
function errnoInside(error: unknown): string | undefined {
  let inner = error;
  for (let depth = 0; inner instanceof Error && depth < 5; depth++) {
    const errno = errnoOf(inner);
    if (errno !== undefined) return errno;
    inner = inner instanceof AggregateError ? inner.errors[0] : inner.cause;
  }
  return undefined;
}

/** The SDK's errors carry the status in `data`, but that of the event stream as `code`. */
export function httpStatusOf(error: unknown): { status: number | undefined; text: string } {
  if (!(error instanceof Error)) return { status: undefined, text: '' };
  const { data, code } = error as Error & { data?: unknown; code?: unknown };
  if (isJsonObject(data) && typeof data.status === 'number') return { status: data.status, text: String(data.text ?? '') };
  return { status: typeof code === 'number' ? code : undefined, text: '' };
}

function toErrorObject(text: string): JsonObject | undefined {
  const message = fromTransport(tryJson(text));
  return isJsonObject(message) && isJsonObject(message.error) && isNumber(message.error.code) ? message.error : undefined;
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || value instanceof ExactNumber;
}
