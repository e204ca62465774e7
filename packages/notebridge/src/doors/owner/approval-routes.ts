import type { PendingApproval, PendingApprovals } from '../../grants/approvals/pending-approvals.js';
import type { OwnerAnswers } from './owner-routes.js';
import type { OwnerBody } from './owner-schemas.js';

/** The calls that wait for their owner, and what the owner decides about them. */
export function approvalAnswers(pending: PendingApprovals) {
  return {
    listApprovals: () => ({ approvals: pending.list().map(describeApproval) }),
    showApproval: ({ params: [id = ''] }) => describeApproval(pending.show(id)),
    decideApproval: async ({ params: [id = ''] }, read) => {
      const { decision } = await read('The body must be {"decision":"once"}, "session" or "deny".');
      return describeApproval(pending.decide(id, decision));
    },
  } satisfies Partial<OwnerAnswers>;
}

/** As JSON has it everywhere: names with underscores, times in ISO 8601. */
function describeApproval({ since, endsAt, ...call }: PendingApproval): OwnerBody<'Approval'> {
  return { ...call, since: new Date(since).toISOString(), ends_at: new Date(endsAt).toISOString() };
}
