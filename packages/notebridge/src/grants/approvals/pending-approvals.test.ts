// @module-tag P-428

import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { expect, it } from 'vitest';
import { type ApprovalOutcome, PendingApprovals } from './pending-approvals.js';

const shown = { server: '"shop"', tool: '"remove"', arguments: '', caller: 'an agent', message: '', whole: () => 'all of it' };
const ignore = (): void => {};

function wait(pending: PendingApprovals, agent: string, { principal = 'owner', key = agent, cancellation = new Cancellation() } = {}) {
  const outcome = pending.wait(shown, { key, who: { principal, agent }, cancellation, timeoutMs: 60_000, onAdded: ignore });
  return outcome.catch((error: { code: string }) => error.code) as Promise<ApprovalOutcome | 'limit_reached'>;
}

it('holds 64 calls of one agent and 256 with the same rights, whatever they call themselves, and keeps no other out', async () => {
  const pending = new PendingApprovals();
  const ofOne = Array.from({ length: 65 }, () => wait(pending, 'one'));
  expect(await ofOne[64]).toBe('limit_reached');
  const ofGrant = Array.from({ length: 300 }, (_, n) => wait(pending, `name ${n}`, { principal: 'grant:g' }));
  const others = [wait(pending, 'two'), wait(pending, 'one', { principal: 'grant:h' })];
  expect(pending.list()).toHaveLength(64 + 256 + 2);
  pending.close();
  const closed = (await Promise.all([...ofOne, ...ofGrant, ...others])).filter((outcome) => outcome === 'closed');
  expect(closed).toHaveLength(64 + 256 + 2);
  expect(await wait(pending, 'one')).toBe('closed');
});

it('is answered once, for one call or for all of a tool in its session; a call that was cancelled waits no more', async () => {
  const pending = new PendingApprovals();
  const cancellation = new Cancellation();
  const [first, second, other, gone] = [wait(pending, 'a'), wait(pending, 'a'), wait(pending, 'b'), wait(pending, 'c', { cancellation })];
  cancellation.cancel('enough');
  expect(await gone).toBe('cancelled');
  const [{ id = '' } = {}] = pending.list();
  expect(pending.show(id)).toMatchObject({ id, arguments: 'all of it' });
  expect(pending.decide(id, 'session')).toMatchObject({ id, tool: '"remove"' });
  expect(await Promise.all([first, second])).toEqual(['session', 'session']);
  expect(() => pending.decide(id, 'once')).toThrow('No call waits for approval');
  expect(pending.list()).toHaveLength(1);
  pending.decide(String(pending.list()[0]?.id), 'deny');
  expect(await other).toBe('deny');
});
