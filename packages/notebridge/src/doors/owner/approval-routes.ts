import type { IncomingMessage } from 'node:http';
import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { BridgeError } from '../../core/errors.js';
import type { Decision, PendingApproval } from '../../grants/approvals/pending-approvals.js';
import { parseBody, receiveBody } from '../http/read-body.js';
import { isRefusal } from '../http/refusal.js';

/** As JSON has it everywhere: names with underscores, times in ISO 8601. */
export function printApproval({ since, endsAt, ...call }: PendingApproval): JsonObject {
  return { ...call, since: new Date(since).toISOString(), ends_at: new Date(endsAt).toISOString() };
}

const decisions: readonly string[] = ['once', 'session', 'deny'] satisfies Decision[];

/** The owner's answer: `{"decision":"once"}`, `session` or `deny`. Rejects with `bad_params` for anything else. */
export async function receiveDecision(request: IncomingMessage, maxBytes: number): Promise<Decision> {
  const body = await new Promise<Parameters<Parameters<typeof receiveBody>[2]>[0]>((resolve) => receiveBody(request, maxBytes, resolve));
  const parsed = body === undefined || isRefusal(body) ? body : parseBody(body.text);
  const value = parsed === undefined || isRefusal(parsed) ? undefined : parsed.value;
  const decision = isJsonObject(value) ? value.decision : undefined;
  if (typeof decision === 'string' && decisions.includes(decision)) return decision as Decision;
  throw new BridgeError('bad_params', 'The body must be {"decision":"once"}, "session" or "deny".');
}
