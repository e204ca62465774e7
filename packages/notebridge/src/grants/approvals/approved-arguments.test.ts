// @module-tag P-424

import type { Caller } from '@notebridge/protocol/core/call-context';
import type { Question } from '@notebridge/protocol/core/questions';
import { ExactNumber, type JsonObject } from '@notebridge/protocol/json';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { Redactor } from '@notebridge/protocol/util/redactor';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createContext } from '../../../test/support/create-context.js';
import { ApprovalPolicy } from './approval-policy.js';
import { Approvals } from './approvals.js';
import { PendingApprovals } from './pending-approvals.js';

const caller: Caller = { sessionId: 's', door: 'library', era: 'legacy', clientInfo: {} };
let pending: PendingApprovals;
let approvals: Approvals;
beforeEach(() => {
  pending = new PendingApprovals();
  pending.isWatched = true;
  const policy = () => new ApprovalPolicy({ approve: 'writes', servers: [{ name: 'shop', tools: { deny: [] } }] }, []);
  const [labelOf, redactor] = [() => undefined, new Redactor()];
  approvals = new Approvals({ policy, pending, labelOf, redactor, logger: silentLogger, timeoutMs: 60_000 });
});
afterEach(() => approvals.close());

/** The arguments that are sent of a call once it is approved. `ask`: who is asked; left out: the owner. */
async function sentOf(args: JsonObject, ask?: (question: Question) => JsonObject): Promise<unknown> {
  const asker = { clientCapabilities: { elicitation: { form: {} } }, ask: async (_: unknown, question: Question) => ask?.(question) ?? {} };
  const context = createContext('tools/call', { name: 'shop__plain', arguments: args }, { caller, requestId: 1, ...(ask && { asker }) });
  const approved = await approvals.ask(context, { server: 'shop', tool: 'plain' }, () => undefined);
  return approved !== undefined && 'context' in approved ? approved.context.message.arguments : approved;
}

it('are those that were shown, though their caller has changed them while the person read', async () => {
  const args: JsonObject = { keep: { at: 1 }, exact: new ExactNumber('12345678901234567890') };
  const sent = await sentOf(args, () => {
    (args.keep as JsonObject).at = 2;
    args.more = 'rm -rf';
    return { action: 'accept', content: { decision: 'once' } };
  });
  expect(sent).toEqual({ keep: { at: 1 }, exact: new ExactNumber('12345678901234567890') });
});

it('are those that the owner was shown, too; and of a megabyte', async () => {
  const args: JsonObject = { long: 'x'.repeat(1_000_000), last: 1 };
  const sent = sentOf(args);
  await expect.poll(() => pending.list()).toHaveLength(1);
  const [{ id = '', arguments: shown = '' } = {}] = pending.list();
  expect(shown.length).toBeLessThan(6000);
  expect(pending.show(id).arguments).toBe(`  "long": "${'x'.repeat(1_000_000)}"\n  "last": 1`);
  args.last = 2;
  // The owner reads the arguments that will be sent.
  expect(pending.show(id).arguments).toContain('"last": 1');
  pending.decide(id, 'once');
  expect(await sent).toEqual({ long: 'x'.repeat(1_000_000), last: 1 });
});
