/**
 * What two hubs say to each other in the exchange of one call. The first message is a `call`, the last a `result` or a `fault`. Version 1;
 * what a later version may change is said in docs/internals/lives.md.
 */

import type { CallContext, Caller } from '@notebridge/protocol/core/call-context';
import { BridgeError, type ErrorCode, errorTable, RemoteError } from '@notebridge/protocol/core/errors';
import { owner } from '@notebridge/protocol/core/principal';
import { type Printed, parseMessage, printMessage } from '@notebridge/protocol/core/wire';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { Call, parseFrame, printFrameInPieces, ResultAnswer } from '@notebridge/protocol/rpc/messages';
import { NotStarted, type WhyNotStarted } from './cluster-parts.js';

export const callKinds = {
  /** Of the caller's hub. */
  call: 1,
  answer: 2,
  cancel: 3,
  /** Of the owner. */
  notice: 16,
  question: 17,
  questionEnd: 18,
  result: 19,
  fault: 20,
} as const;

/** What the owner has to know of a call beside its method and params. */
export interface CallHead {
  resource: string;
  epoch: number;
  callId: string;
  /** With its principal, always: that it is left out means the owner here, and is refused there. */
  caller: Caller;
  parent: { callId: string; caller?: Caller | undefined } | undefined;
  isTyped: boolean;
  target: CallContext['target'];
  trace: CallContext['trace'];
  clientCapabilities: JsonObject | undefined;
  /** The caller can be asked while the call runs. */
  canAsk: boolean;
  wantsProgress: boolean;
}

export function toHead(context: CallContext, { resource, epoch }: { resource: string; epoch: number }): CallHead {
  const { callId, parent, isTyped, target, trace, clientCapabilities, wantsProgress } = context;
  return {
    resource,
    epoch,
    callId,
    caller: withPrincipal(context.caller),
    parent: parent && { callId: parent.callId, caller: parent.caller && withPrincipal(parent.caller) },
    isTyped: isTyped === true,
    target,
    trace,
    clientCapabilities,
    canAsk: context.ask !== undefined,
    wantsProgress,
  };
}

function withPrincipal(caller: Caller): Caller {
  const { sessionId, door, era, clientInfo, principal = owner } = caller;
  return { sessionId, door, era, clientInfo, principal };
}

/** Length of the head (4 bytes), the head, then the request as any peer would send it: its large strings pass as they came. */
export function printHubCall(head: CallHead, method: string, params: JsonObject): Buffer {
  const headBytes = Buffer.from(printMessage(head));
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32BE(headBytes.length);
  return Buffer.concat([length, headBytes, ...toPieces(printFrameInPieces(new Call(1, method, params)))]);
}

/** Throws `bad_message` for what no hub of this version sends. */
export function parseHubCall(payload: Buffer): { head: CallHead; method: string; params: JsonObject } {
  const end = payload.length < 4 ? Number.POSITIVE_INFINITY : 4 + payload.readUInt32BE(0);
  if (end > payload.length) throw notUnderstood('it is too short');
  const head = parseMessage(payload.toString('utf8', 4, end));
  const request = parseFrame(payload.subarray(end));
  if (!isCallHead(head)) throw notUnderstood('its head is not one of a call');
  if (!isJsonObject(request) || typeof request.method !== 'string' || !isJsonObject(request.params))
    throw notUnderstood('it has no request');
  return { head, method: request.method, params: request.params };
}

function isCallHead(head: unknown): head is JsonObject & CallHead {
  if (!isJsonObject(head) || !isCaller(head.caller)) return false;
  const { resource, epoch, callId, parent, target, trace, clientCapabilities } = head;
  const isParent = isJsonObject(parent) && typeof parent.callId === 'string' && (parent.caller === undefined || isCaller(parent.caller));
  return (
    [resource, callId].every((text) => typeof text === 'string') &&
    typeof epoch === 'number' &&
    (parent === undefined || isParent) &&
    [target, trace, clientCapabilities].every((member) => member === undefined || isJsonObject(member))
  );
}

function isCaller(caller: unknown): boolean {
  if (!isJsonObject(caller) || !isJsonObject(caller.principal)) return false;
  const { kind, grantId } = caller.principal;
  const isPrincipal = kind === 'owner' || kind === 'anonymous' || (kind === 'grant' && typeof grantId === 'string');
  return isPrincipal && [caller.sessionId, caller.door, caller.era].every((text) => typeof text === 'string');
}

export function printResult(result: JsonObject): Buffer {
  const pieces = toPieces(printFrameInPieces(new ResultAnswer(1, result)));
  return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
}

export function parseResult(payload: Buffer): JsonObject {
  const answer = parseFrame(payload);
  if (!isJsonObject(answer) || !isJsonObject(answer.result)) throw notUnderstood('it is no result');
  return answer.result;
}

export function printNote(note: JsonObject): Buffer {
  return Buffer.from(printMessage(note));
}

export function parseNote(payload: Buffer): JsonObject {
  const note = parseMessage(payload.toString('utf8'));
  if (!isJsonObject(note)) throw notUnderstood('it is no object');
  return note;
}

/** An error for another hub, which throws the same one. Of what nobody expected it is told no more than an agent would be. */
export function toHubFault(error: unknown): JsonObject {
  if (error instanceof NotStarted) return { notStarted: error.reason };
  if (error instanceof RemoteError) return { remote: error.raw };
  if (error instanceof BridgeError) {
    const { code, message, data } = error;
    return { code, message, data, rpcCode: errorTable[code].rpcCode };
  }
  return { code: 'internal', message: 'Internal error', data: {}, rpcCode: errorTable.internal.rpcCode };
}

export function fromHubFault({ notStarted, remote, code, message, data, rpcCode }: JsonObject): Error {
  if (typeof notStarted === 'string') return new NotStarted(notStarted as WhyNotStarted);
  if (isJsonObject(remote)) return new RemoteError(remote);
  const text = typeof message === 'string' ? message : 'Another hub has answered with an error that this version does not know.';
  const details = isJsonObject(data) ? data : {};
  if (typeof code === 'string' && Object.hasOwn(errorTable, code)) return new BridgeError(code as ErrorCode, text, { data: details });
  // Of a newer hub: agents see what they would see there.
  return new RemoteError({ code: rpcCode ?? errorTable.internal.rpcCode, message: text, data: { ...details, code } });
}

function toPieces(printed: Printed): readonly Buffer[] {
  return typeof printed === 'string' ? [Buffer.from(printed)] : printed;
}

function notUnderstood(why: string): BridgeError {
  return new BridgeError('bad_message', `Another hub has sent a message that this one does not understand: ${why}.`);
}
