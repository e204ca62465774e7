import type { CallContext } from '../core/call-context.js';
import type { ToolAddress } from '../core/tool-address.js';
import { printJson } from '../util/exact-json.js';
import { isJsonObject } from '../util/json.js';
import type { Redactor } from '../util/redactor.js';
import { toArgumentHash } from './argument-hash.js';
import { roughSizeOf } from './rough-size.js';

/** One call, when it has ended. */
export interface AuditEntry {
  context: CallContext;
  method: string;
  address: ToolAddress | undefined;
  args: unknown;
  /** The result; undefined if the call failed. */
  result: unknown;
  /** `ok`, `tool_error` (the tool said that it failed), or the code of the error. */
  outcome: string;
  durationMs: number;
  /** What the owner called the grant. */
  label: string | undefined;
}

export interface AuditLineOptions {
  redactor: Pick<Redactor, 'redact'>;
  /** The arguments themselves, besides their hash. Default false. */
  logArguments?: boolean;
}

/** Names come from callers. */
const maxName = 256;

/** The line of a call, without newline. Sizes are estimates (`roughSizeOf`), and named `…_at_least` where not all was looked at. */
export function toAuditLine(entry: AuditEntry, { logArguments, redactor }: AuditLineOptions): string {
  const { context, method, address, args, result, outcome, durationMs, label } = entry;
  const { principal, door, sessionId, clientInfo } = context.caller;
  // Put together by hand: half of what printing an object costs, on every call.
  let line = `{"time":"${timeOf(Date.now())}","call_id":${toJson(context.callId)},"principal":"${principal?.kind ?? 'owner'}"`;
  if (principal?.kind === 'grant') line += `,"grant_id":${toJson(principal.grantId)}`;
  if (label !== undefined) line += `,"label":${toJson(label)}`;
  line += `,"door":"${door}","session":${toJson(sessionId)}`;
  if (typeof clientInfo?.name === 'string') line += `,"client":${toJson(clientInfo.name)}`;
  if (method !== 'tools/call') line += `,"method":${toJson(method)}`;
  if (address !== undefined) line += `,"server":${toJson(address.server)},"tool":${toJson(address.tool)}`;
  line += `,"outcome":${toJson(outcome)},"duration_ms":${Math.round(durationMs * 100) / 100}`;
  line += sizeField('in', args);
  if (result !== undefined) line += sizeField('out', result);
  line += hashField(args);
  if (logArguments === true && args !== undefined) line += argumentsField(args, redactor);
  return `${line}}`;
}

let lastTime = 0;
let lastTimeText = '';

/** Calls come many in a millisecond. */
function timeOf(now: number): string {
  if (now !== lastTime) lastTimeText = new Date(now).toISOString();
  lastTime = now;
  return lastTimeText;
}

function toJson(name: string): string {
  if (/^[\w .:/-]{0,256}$/.test(name)) return `"${name}"`;
  return JSON.stringify(name.length > maxName ? `${name.slice(0, maxName)}…` : name);
}

function hashField(args: unknown): string {
  const hashed = toArgumentHash(args);
  return hashed === undefined ? '' : `,"${hashed.field}":"${hashed.sha256}"`;
}

/** What cannot be printed must not keep the line from being written. */
function argumentsField(args: unknown, redactor: AuditLineOptions['redactor']): string {
  try {
    return `,"arguments":${printJson(withoutSecrets(args, redactor))}`;
  } catch (error) {
    if (error instanceof RangeError) return ',"arguments_left_out":"nested too deeply"';
    throw error;
  }
}

/** Text by text: printed as JSON, a secret with a line break in it would no longer be found. */
function withoutSecrets(value: unknown, redactor: AuditLineOptions['redactor']): unknown {
  if (typeof value === 'string') return redactor.redact(value);
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, redactor));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [redactor.redact(key), withoutSecrets(member, redactor)]));
}

function sizeField(direction: 'in' | 'out', value: unknown): string {
  const { bytes, isComplete } = roughSizeOf(value);
  return `,"bytes_${direction}${isComplete ? '' : '_at_least'}":${bytes}`;
}
