import { BridgeError } from '@notebridge/protocol/core/errors';
import { parseJson, printJson } from '@notebridge/protocol/exact-json';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { envelopeKeys, envelopeOf } from '@notebridge/protocol/rpc/modern-envelope';

/** What a call says to its server, as exact texts of JSON: all of it can be read by a person, and nothing else is sent. */
export interface ReadableCall {
  /** Its arguments; `null` if it has none. */
  exact: string;
  /** Whatever it says beside them, as an object: tasks, members that no protocol knows, its own `_meta`. */
  beside: string;
  /** What says nothing: the members of `_meta` by which answers find back, and what the hub writes anew. */
  carried: JsonObject;
}

/** `isAskedByAnswer`: its `requestState` and `inputResponses` are for the hub. @throws BridgeError `not_approved` for what cannot be printed. */
export function toReadableCall(message: JsonObject, isAskedByAnswer: boolean): ReadableCall {
  const { name: _, arguments: args, ...others } = message;
  if (isAskedByAnswer) for (const key of ['requestState', 'inputResponses']) delete others[key];
  const carried: JsonObject = {};
  if (isJsonObject(others._meta)) {
    const isInEnvelope = envelopeOf(message) !== undefined;
    const said = Object.entries(others._meta).filter(([key, value]) => {
      // Of each call another one, and free text: it could not be bound to what was read.
      if (key === 'tracestate') return false;
      if (!isCarrier(key, value, isInEnvelope)) return true;
      carried[key] = value;
      return false;
    });
    if (said.length > 0) others._meta = Object.fromEntries(said);
    else delete others._meta;
  }
  return { exact: toExactText(args), beside: toExactText(others), carried };
}

/** The call as it was read. */
export function toSentCall(name: unknown, { exact, beside, carried }: ReadableCall): JsonObject {
  const args = exact === 'null' ? undefined : parseJson(exact);
  const others = parseJson(beside) as JsonObject;
  const meta = { ...(isJsonObject(others._meta) ? others._meta : undefined), ...carried };
  return { ...others, name, ...(args !== undefined && { arguments: args }), ...(Object.keys(meta).length > 0 && { _meta: meta }) };
}

const logLevels = new Set<unknown>(['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']);
const traceparent = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;

function isCarrier(key: string, value: unknown, isInEnvelope: boolean): boolean {
  switch (key) {
    case 'progressToken':
      return true;
    case 'traceparent':
      return typeof value === 'string' && traceparent.test(value);
    case envelopeKeys.logLevel:
      return isInEnvelope && logLevels.has(value);
    case envelopeKeys.protocolVersion:
    case envelopeKeys.clientCapabilities:
    case envelopeKeys.clientInfo:
      return isInEnvelope;
    default:
      return false;
  }
}

/** The text as it will be sent. */
function toExactText(value: unknown): string {
  try {
    return printJson(value ?? null);
  } catch (error) {
    const text = 'The arguments of the call are nested too deeply to be shown to a person, who has to approve it. It was not made.';
    throw new BridgeError('not_approved', text, { data: { reason: 'too_deep' }, cause: error });
  }
}
