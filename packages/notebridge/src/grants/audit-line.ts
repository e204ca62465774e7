import { hash } from 'node:crypto';
import type { CallContext, Caller } from '@notebridge/protocol/core/call-context';
import type { RoughSize } from '@notebridge/protocol/core/call-observer';
import type { ToolAddress } from '@notebridge/protocol/core/tool-address';
import { printJson } from '@notebridge/protocol/exact-json';
import { ExactNumber } from '@notebridge/protocol/json';
import { roughSizeOf } from '@notebridge/protocol/rpc/rough-size';
import { redactValue } from '@notebridge/protocol/util/redact-members';
import type { Redactor } from '@notebridge/protocol/util/redactor';
import type { Grant } from './grant.js';

/** Who allowed a call: the person at the agent that made it, the owner, or either of them for the whole session before. */
export type ApprovedBy = 'elicitation' | 'owner' | 'session';

/** One call, when it has ended. */
export interface AuditEntry {
  context: CallContext;
  method: string;
  address: ToolAddress | undefined;
  args: unknown;
  /** The result; undefined if the call failed. */
  result: unknown;
  /** How large both are, as far as it was measured already. */
  sizes?: { args: RoughSize | undefined; result: RoughSize | undefined } | undefined;
  /** `ok`, `tool_error` (the tool said that it failed), or the code of the error. */
  outcome: string;
  durationMs: number;
  /** When it ended, milliseconds since the epoch. */
  endedAt: number;
  /** What the owner called the grant. */
  label: string | undefined;
  /** The grants on whose behalf code made the call. Left out: it was no code, or the owner's. */
  onBehalfOf?: readonly string[] | undefined;
  /** Who allowed it, of a call that needed that. */
  approvedBy?: ApprovedBy | undefined;
}

/** Attempts of one kind that were refused before there was a call. */
export interface RefusedEntry {
  door: string;
  reason: string;
  /** Undefined: unknown. */
  grantId: string | undefined;
  remote: 'loopback' | 'private' | 'public' | 'unknown';
  times: number;
  /** When the first of the kind came, and the last that is counted here. Milliseconds since the epoch. */
  since: number;
  endedAt: number;
}

/** A grant was given, got another token, or was ended by somebody. */
export interface GrantChange {
  event: 'grant_issued' | 'grant_renewed' | 'grant_revoked';
  grant: Pick<Grant, 'id' | 'label' | 'allow' | 'door' | 'readOnly' | 'expiresAt' | 'holder'>;
  /** Milliseconds since the epoch. */
  changedAt: number;
}

/** The line of a change of grants. `holder` is true of one that another issuer vouches for. */
export function toGrantLine({ event, grant, changedAt }: GrantChange): string {
  const { id, label, allow, door, readOnly, expiresAt, holder } = grant;
  const terms = { allow, door, read_only: readOnly, expires: new Date(expiresAt).toISOString(), holder: holder !== undefined };
  const more = event === 'grant_revoked' ? {} : terms;
  return JSON.stringify({ time: new Date(changedAt).toISOString(), event, grant_id: id, label, ...more });
}

/** The line of refused attempts. */
export function toRefusedLine({ door, reason, grantId, remote, times, since, endedAt }: RefusedEntry): string {
  const who = grantId === undefined ? { principal: 'unknown' } : { principal: 'grant', grant_id: grantId };
  const count = times === 1 ? { times } : { times, since: new Date(since).toISOString() };
  return JSON.stringify({ time: new Date(endedAt).toISOString(), outcome: 'refused', reason, ...who, door, remote, ...count });
}

export interface AuditLineOptions {
  redactor: Pick<Redactor, 'redactDeeply'>;
  /** The arguments themselves, besides their hash. Default false. */
  logArguments?: boolean;
}

/** Names come from callers. */
const maxName = 256;

/**
 * The line of a call. Its pieces are joined at once: that is far cheaper than flattening a text that was put together by `+`. Sizes are
 * estimates (`roughSizeOf`), and named `…_at_least` where not all was looked at.
 */
export function toAuditLine(entry: AuditEntry, { logArguments, redactor }: AuditLineOptions): string {
  const { context, method, address, args, result, sizes, outcome, durationMs, label, onBehalfOf, approvedBy } = entry;
  const pieces = [toTimeField(entry.endedAt), printName(context.callId), toWho(context.caller, label)];
  if (onBehalfOf !== undefined) pieces.push(',"on_behalf_of":', JSON.stringify(onBehalfOf));
  if (context.parent !== undefined) pieces.push(',"parent":', printName(context.parent.callId));
  if (method !== 'tools/call') pieces.push(`,"method":${toJson(method)}`);
  pieces.push(toWhat(address, outcome), toHundredths(durationMs), sizeField('in', sizes?.args ?? roughSizeOf(args)));
  if (result !== undefined) pieces.push(sizeField('out', sizes?.result ?? roughSizeOf(result)));
  if (approvedBy !== undefined) pieces.push(`,"approved_by":"${approvedBy}"`);
  pieces.push(hashField(args));
  if (logArguments === true && args !== undefined) pieces.push(argumentsField(args, redactor));
  pieces.push('}');
  return pieces.join('');
}

let lastTime = 0;
let lastTimeField = '';

/** Calls come many in a millisecond. */
function toTimeField(now: number): string {
  if (now !== lastTime) lastTimeField = `{"time":"${new Date(now).toISOString()}","call_id":`;
  lastTime = now;
  return lastTimeField;
}

let lastCaller: Caller | undefined;
let lastLabel: string | undefined;
let lastWho = '';

/** The fields of the caller and its address. One caller makes many calls. */
function toWho(caller: Caller, label: string | undefined): string {
  if (caller === lastCaller && label === lastLabel) return lastWho;
  const { principal, door, sessionId, clientInfo } = caller;
  const fields = [`,"principal":"${principal?.kind ?? 'owner'}"`];
  if (principal?.kind === 'grant') fields.push(',"grant_id":', toJson(principal.grantId));
  if (label !== undefined) fields.push(',"label":', toJson(label));
  fields.push(`,"door":"${door}","session":`, toJson(sessionId));
  if (typeof clientInfo?.name === 'string') fields.push(',"client":', toJson(clientInfo.name));
  lastCaller = caller;
  lastLabel = label;
  lastWho = fields.join('');
  return lastWho;
}

let lastServer = '';
let lastTool = '';
let lastOutcome = '';
let lastWhat = '';

/** The fields of what was called, and what became of it. */
function toWhat(address: ToolAddress | undefined, outcome: string): string {
  if (address === undefined) return `,"outcome":${toJson(outcome)},"duration_ms":`;
  const { server, tool } = address;
  if (server === lastServer && tool === lastTool && outcome === lastOutcome) return lastWhat;
  lastServer = server;
  lastTool = tool;
  lastOutcome = outcome;
  lastWhat = [',"server":', toJson(server), ',"tool":', toJson(tool), ',"outcome":', toJson(outcome), ',"duration_ms":'].join('');
  return lastWhat;
}

/** Two digits after the point; printing a fraction costs several times what printing an integer does. */
function toHundredths(value: number): string {
  const hundredths = Math.round(value * 100);
  const rest = hundredths % 100;
  return `${(hundredths - rest) / 100}.${rest < 10 ? '0' : ''}${rest}`;
}

/** Names that come with many calls are printed once. */
const printedNames = new Map<string, string>();
const maxPrintedNames = 1000;

function toJson(name: string): string {
  const known = printedNames.get(name);
  if (known !== undefined) return known;
  const printed = printName(name);
  // A client that makes up names must not fill our memory, nor keep those of others out permanently.
  if (printedNames.size >= maxPrintedNames) printedNames.clear();
  if (name.length <= maxName) printedNames.set(name, printed);
  return printed;
}

function printName(name: string): string {
  if (isPlain(name)) return `"${name}"`;
  return JSON.stringify(name.length > maxName ? `${name.slice(0, maxName)}…` : name);
}

/** True for a short name that is its own JSON. Nearly all are; on names of this size a loop beats an expression. */
function isPlain(name: string): boolean {
  if (name.length > 64) return false;
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at);
    if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) return false;
  }
  return true;
}

/** What cannot be printed must not keep the line from being written. */
function argumentsField(args: unknown, redactor: AuditLineOptions['redactor']): string {
  try {
    return `,"arguments":${printJson(redactValue(args, (text) => redactor.redactDeeply(text)))}`;
  } catch (error) {
    if (error instanceof RangeError) return ',"arguments_left_out":"nested too deeply"';
    throw error;
  }
}

function sizeField(direction: 'in' | 'out', { bytes, isComplete }: RoughSize): string {
  return `,"bytes_${direction}${isComplete ? '' : '_at_least'}":${bytes}`;
}

/** Arguments above this are hashed by their first part only. UTF-16 units of the canonical JSON. */
const maxHashed = 65_536;

/**
 * The audit's field for the arguments of a call: enough to prove what was sent, too little to read it. The SHA-256 is that of the
 * arguments as JSON with sorted keys and no spaces (RFC 8785 but for odd numbers, which stay as they were sent), UTF-8. Of arguments
 * above 64 Ki UTF-16 units only the first so many are hashed, and the field is named so. Nothing for a call without arguments.
 */
function hashField(args: unknown): string {
  if (args === undefined || args === null) return '';
  // Nearly all arguments: the engine prints them as they are to be printed.
  const text = isSmallAndSorted(args, { nodes: 0 }) ? JSON.stringify(args) : print(args);
  if (text.length <= maxHashed) return `,"args_sha256":"${hash('sha256', text, 'hex')}"`;
  return `,"args_sha256_of_first_64k":"${hash('sha256', text.slice(0, maxHashed), 'hex')}"`;
}

function isSmallAndSorted(value: unknown, walk: { nodes: number }): boolean {
  if (++walk.nodes > 100) return false;
  if (typeof value === 'string') return value.length < 4096;
  if (typeof value !== 'object' || value === null) return true;
  if (value instanceof ExactNumber) return false;
  if (Array.isArray(value)) return value.every((item) => isSmallAndSorted(item, walk));
  let before = '';
  for (const key in value) {
    if (key < before || !isSmallAndSorted((value as Record<string, unknown>)[key], walk)) return false;
    before = key;
  }
  return true;
}

/** A list or an object that is being printed. */
interface Open {
  /** Undefined for a list. */
  keys: string[] | undefined;
  values: readonly unknown[];
  /** How many of them are printed. */
  printed: number;
}

/**
 * Prints until enough is there for the hash; so a huge value costs no more than a large one. Without recursion: a caller who nests
 * deeper than the stack must not get out of the audit.
 */
function print(root: unknown): string {
  const open: Open[] = [];
  let text = '';
  const begin = (value: unknown): void => {
    if (typeof value === 'object' && value !== null && !(value instanceof ExactNumber)) {
      open.push(toOpen(value));
      text += Array.isArray(value) ? '[' : '{';
    } else text += printPlain(value);
  };
  begin(root);
  for (let top = open.at(-1); top !== undefined && text.length <= maxHashed; top = open.at(-1)) {
    const { keys, values } = top;
    if (top.printed === values.length) {
      open.pop();
      text += keys === undefined ? ']' : '}';
      continue;
    }
    const index = top.printed++;
    if (index > 0) text += ',';
    if (keys !== undefined) text += `${JSON.stringify(keys[index])}:`;
    begin(values[index]);
  }
  return text;
}

function toOpen(value: object): Open {
  if (Array.isArray(value)) return { keys: undefined, values: value, printed: 0 };
  const members = value as Record<string, unknown>;
  // What JSON leaves out.
  const keys = Object.keys(members).filter((key) => members[key] !== undefined);
  if (keys.length > 1) keys.sort();
  return { keys, values: keys.map((key) => members[key]), printed: 0 };
}

function printPlain(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > maxHashed ? value.slice(0, maxHashed) : value);
  return value instanceof ExactNumber ? value.source : (JSON.stringify(value) ?? 'null');
}
