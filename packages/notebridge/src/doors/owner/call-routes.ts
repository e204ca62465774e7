import { BridgeError } from '@notebridge/protocol/core/errors';
import { printMessage } from '@notebridge/protocol/core/wire';
import { redactValue } from '@notebridge/protocol/util/redact-members';
import type { Redacting } from '@notebridge/protocol/util/redactor';
import type { RecentCalls, SeenCall, SeenValue } from '../../recent/recent-calls.js';
import { callQuery, type OwnerAnswers, ownerPrefix } from './owner-routes.js';
import type { OwnerBody } from './owner-schemas.js';
import { readQuery, toNumber } from './read-query.js';

/** The calls that run, and the last ones. `redactor`: takes the secrets out of what was sent and answered. */
export function callAnswers(calls: RecentCalls, redactor: Redacting) {
  const callOf = (id = ''): SeenCall => {
    const call = calls.find(id);
    if (call !== undefined) return call;
    throw new BridgeError('bad_params', `There is no call ${JSON.stringify(id)} (any more). See: ${ownerPrefix}/calls`);
  };
  return {
    listCalls: ({ query }) => {
      const { limit = 100, before, ...filter } = readQuery(query, callQuery);
      // An id, which is a text to its reader.
      const first = before === undefined ? undefined : String(toNumber('before', before, { minimum: 0, maximum: Number.MAX_SAFE_INTEGER }));
      const found = calls.list(filter, { before: first, limit });
      return { calls: found.map(describeCall), totals: calls.totals };
    },
    getCall: ({ params: [id] }) => printCall(callOf(id), redactor),
    cancelCall: ({ params: [id] }) => describeCall(calls.cancel(callOf(id).id)),
  } satisfies Partial<OwnerAnswers>;
}

/** As JSON has it everywhere: names with underscores, times in ISO 8601. Nothing of what was sent or answered. */
export function describeCall(call: SeenCall): OwnerBody<'Call'> {
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
function printCall(call: SeenCall, redactor: Redacting): string {
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
