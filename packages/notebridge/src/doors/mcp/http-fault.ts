import { BridgeError, type ErrorCode, errorTable, headerMismatchCode, RemoteError } from '@notebridge/protocol/core/errors';
import { printMessage } from '@notebridge/protocol/core/wire';
import { type RpcId, toErrorAnswer } from '@notebridge/protocol/rpc/messages';
import type { Refusal } from '../http/refusal.js';

/** A request that is not served, with the JSON-RPC error that says why. */
export interface HttpFault extends Refusal {
  error: BridgeError | RemoteError;
  /** The request that it answers, if it is one. */
  id: RpcId | null;
}

export function faultOf(status: number, error: BridgeError | RemoteError, id: RpcId | null = null): HttpFault {
  return { status, detail: error.message, error, id };
}

export function fault(status: number, code: ErrorCode, message: string, id: RpcId | null = null): HttpFault {
  return faultOf(status, new BridgeError(code, message), id);
}

export function headerMismatch(message: string, id: RpcId): HttpFault {
  return faultOf(400, new RemoteError({ code: headerMismatchCode, message }), id);
}

/** A limit is reached that may not be in a moment. */
export function tooMany(message: string, retryAfterS: number, id: RpcId | null = null): HttpFault {
  return { ...fault(503, 'limit_reached', message, id), headers: ['retry-after', String(retryAfterS)] };
}

/** Prints a refusal as the agent reads it, also one in the words of the other doors. */
export function printFault(refusal: Refusal | HttpFault): string {
  const { error, id } = 'error' in refusal ? refusal : fromRefusal(refusal);
  return printMessage(toErrorAnswer(id, error));
}

/** What the other doors refuse, in the words of this one. */
export function fromRefusal({ status, detail, headers, more }: Refusal): HttpFault {
  const { error_code: named, call_id: callId } = more ?? {};
  const code =
    typeof named === 'string' && Object.hasOwn(errorTable, named) ? (named as ErrorCode) : (codeOfStatus[status] ?? 'bad_message');
  const message = typeof detail === 'string' ? detail : 'The request is not served.';
  const found = fault(status, code, callId === undefined ? message : `${message} (${callId})`);
  return headers === undefined ? found : { ...found, headers };
}

const codeOfStatus: Record<number, ErrorCode> = {
  401: 'bad_grant',
  403: 'denied',
  413: 'message_too_large',
  429: 'limit_reached',
  500: 'internal',
  503: 'limit_reached',
};
