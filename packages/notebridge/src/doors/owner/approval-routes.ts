import type { JsonObject } from '@notebridge/kit/json';
import { BridgeError } from '../../core/errors.js';
import type { Decision, PendingApproval } from '../../grants/approvals/pending-approvals.js';
import type { HttpContext } from '../http/http-context.js';
import { readObject } from './read-object.js';

/** As JSON has it everywhere: names with underscores, times in ISO 8601. */
export function printApproval({ since, endsAt, ...call }: PendingApproval): JsonObject {
  return { ...call, since: new Date(since).toISOString(), ends_at: new Date(endsAt).toISOString() };
}

const decisions: readonly string[] = ['once', 'session', 'deny'] satisfies Decision[];

/** The owner's answer: `{"decision":"once"}`, `session` or `deny`. Rejects with `bad_params` for anything else. */
export async function receiveDecision(context: HttpContext, maxBytes: number): Promise<Decision> {
  const { decision } = await readObject(context, maxBytes, ['decision']);
  if (typeof decision === 'string' && decisions.includes(decision)) return decision as Decision;
  throw new BridgeError('bad_params', 'The body must be {"decision":"once"}, "session" or "deny".');
}
