import type { JsonObject } from '@notebridge/kit/json';
import { BridgeError } from '../../core/errors.js';
import { printMessage } from '../../core/wire.js';
import type { CallFilter, RecentCalls } from '../../recent/recent-calls.js';
import type { SeenCall, SeenValue } from '../../recent/seen-call.js';
import { redactValue } from '../../util/redact-members.js';
import type { Redacting } from '../../util/redactor.js';

/** Which whole numbers a query may have. */
export interface NumberRange {
  least: number;
  most: number;
}

const usualLimit = 100;
export const callLimit: NumberRange = { least: 1, most: 1000 };
export const anyId: NumberRange = { least: 0, most: Number.MAX_SAFE_INTEGER };

/** As JSON has it everywhere: names with underscores, times in ISO 8601. Nothing of what was sent or answered. */
export function describeCall(call: SeenCall): JsonObject {
  const { context, address, label } = call.begun;
  const { caller, parent } = context;
  const { principal, client } = caller;
  return {
    id: call.id,
    call_id: context.callId,
    parent: parent?.callId ?? null,
    state: call.outcome === undefined ? 'running' : 'ended',
    method: context.method,
    server: address?.server ?? null,
    tool: address?.tool ?? null,
    caller: {
      kind: principal.kind,
      grant_id: principal.kind === 'grant' ? principal.grantId : null,
      label: label ?? null,
      client,
      session: caller.sessionId,
    },
    door: caller.door,
    started_at: new Date(call.startedAt).toISOString(),
    duration_ms: call.durationMs === undefined ? null : Math.round(call.durationMs * 100) / 100,
    outcome: call.outcome ?? null,
    bytes_in: call.args.bytes,
    bytes_out: call.result.bytes,
  };
}

/** One call with what was sent and answered, secrets taken out: printed, since exact numbers are to stay what they are. */
export function printCall(call: SeenCall, redactor: Redacting): string {
  const described = printMessage(describeCall(call)).slice(0, -1);
  const part = (name: string, kept: SeenValue): string =>
    kept.isGone ? `"${name}":null,"${name}_left_out":true` : `"${name}":${printKept(kept, redactor)}`;
  return `${described},${part('arguments', call.args)},${part('result', call.result)},"error":${redactor.redactOurs(printMessage(call.error ?? null))}}`;
}

/** What is nested too deeply to be gone through is redacted as the text that it is printed as. */
function printKept({ value }: SeenValue, redactor: Redacting): string {
  if (value === undefined) return 'null';
  try {
    return printMessage(redactValue(value, (text) => redactor.redact(text)));
  } catch (error) {
    if (error instanceof RangeError) return redactor.redact(printMessage(value));
    throw error;
  }
}

/** The calls that a query means, the newest first. @throws BridgeError `bad_params`. */
export function findCalls(calls: RecentCalls, query: URLSearchParams): JsonObject {
  const filter: CallFilter = {};
  let limit = usualLimit;
  let before: string | undefined;
  for (const [name, value] of query) {
    if (name === 'limit') limit = toNumber(name, value, callLimit);
    else if (name === 'before') before = String(toNumber(name, value, anyId));
    else if (isFilter(name)) filter[name] = value;
    else
      throw new BridgeError('bad_params', `There is no ${JSON.stringify(name)}; there are ${[...filters, 'limit', 'before'].join(', ')}.`);
  }
  const found = calls.list(filter, { before, limit });
  return { calls: found.map(describeCall), totals: { ...calls.totals } };
}

const filters = ['server', 'tool', 'door', 'outcome', 'caller', 'parent'] as const satisfies (keyof CallFilter)[];

function isFilter(name: string): name is (typeof filters)[number] {
  return (filters as readonly string[]).includes(name);
}

/** A number of a query. @throws BridgeError `bad_params`. */
export function toNumber(name: string, value: string, { least, most }: NumberRange): number {
  const number = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new BridgeError('bad_params', `"${name}" is ${JSON.stringify(value)}; it must be a whole number from ${least} to ${most}.`);
}
