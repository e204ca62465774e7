import type { ServerResponse } from 'node:http';
import { BridgeError, type ErrorCode, errorTable, RemoteError } from '../../core/errors.js';
import { printMessage } from '../../core/wire.js';
import { type RpcId, toErrorAnswer } from '../../rpc/messages.js';
import { securityHeaders, sendJson } from '../http/raw-answer.js';
import type { Refusal } from '../http/refusal.js';

/** A request that is not served: the HTTP status, and the JSON-RPC error that says why. */
export interface HttpFault {
  status: number;
  error: BridgeError | RemoteError;
  /** The request that it answers, if it is one. */
  id?: RpcId | null;
  /** Names and values in turn. */
  headers?: readonly string[];
}

/** MCP 2026-07-28: a header and the body say different things. */
export const headerMismatchCode = -32020;

export function fault(status: number, code: ErrorCode, message: string, id: RpcId | null = null): HttpFault {
  return { status, error: new BridgeError(code, message), id };
}

export function headerMismatch(message: string, id: RpcId): HttpFault {
  return { status: 400, error: new RemoteError({ code: headerMismatchCode, message }), id };
}

/** A limit is reached that may not be in a moment. */
export function tooMany(message: string, retryAfterS: number, id: RpcId | null = null): HttpFault {
  return { ...fault(503, 'limit_reached', message, id), headers: ['retry-after', String(retryAfterS)] };
}

/** What the other doors refuse, in the words of this one. */
export function fromRefusal({ status, detail, headers, more }: Refusal): HttpFault {
  const named = more?.error_code;
  const code =
    typeof named === 'string' && Object.hasOwn(errorTable, named) ? (named as ErrorCode) : (codeOfStatus[status] ?? 'bad_message');
  const message = typeof detail === 'string' ? detail : 'The request is not served.';
  return { ...fault(status, code, message), ...(headers === undefined ? {} : { headers }) };
}

export function sendFault(response: ServerResponse, { status, error, id = null, headers = [] }: HttpFault, more: readonly string[]): void {
  sendJson(response, status, printMessage(toErrorAnswer(id, error)), [...more, ...headers]);
}

/** Answers with a status and no body. Nothing happens if the agent has left. */
export function sendEmpty(response: ServerResponse, status: number, headers: readonly string[]): void {
  if (response.destroyed || response.headersSent) return;
  const length = status === 204 ? [] : ['content-length', '0'];
  response.writeHead(status, [...securityHeaders, ...length, ...headers]);
  response.end();
}

const codeOfStatus: Record<number, ErrorCode> = {
  401: 'bad_grant',
  403: 'denied',
  413: 'message_too_large',
  429: 'limit_reached',
  500: 'internal',
  503: 'limit_reached',
};
