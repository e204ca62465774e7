// @module-tag P-469

import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { RequestContext } from '@notebridge/protocol/core/request-context';
import { describe, expect, it } from 'vitest';
import { RecentCalls } from './recent-calls.js';

function contextOf(callId: string, { grantId, parent }: { grantId?: string; parent?: string } = {}): RequestContext {
  return new RequestContext({
    method: 'tools/call',
    type: 'request',
    message: { name: 'echo' },
    callId,
    caller: {
      sessionId: 's',
      door: 'http',
      era: 'modern',
      clientInfo: { name: 'an agent' },
      ...(grantId === undefined ? {} : { principal: { kind: 'grant', grantId } }),
    },
    ...(parent === undefined ? {} : { parent: { callId: parent } }),
    cancellation: new Cancellation(),
    notify: () => {},
  });
}

const address = { server: 'notes', tool: 'echo' };
const begin = (calls: RecentCalls, id: string, args: unknown = {}, of: Parameters<typeof contextOf>[1] = {}) =>
  calls.begin({ context: contextOf(id, of), address, args, label: undefined });
const idsOf = (calls: RecentCalls, filter: Parameters<RecentCalls['list']>[0] = {}, limit = 100) =>
  calls.list(filter, { limit }).map(({ begun }) => begun.context.callId);

describe('RecentCalls', () => {
  it('has those that run and those that have ended, the newest first, with what was sent and answered', () => {
    const calls = new RecentCalls();
    const end = begin(calls, 'first', { n: 1 });
    begin(calls, 'second');
    end('ok', { content: [] });
    expect(idsOf(calls)).toEqual(['second', 'first']);
    const [second, first] = calls.list({}, { limit: 2 });
    expect(second?.outcome).toBeUndefined();
    expect(first).toMatchObject({ outcome: 'ok', args: { value: { n: 1 } }, result: { value: { content: [] }, isGone: false } });
    expect(calls.totals).toEqual({ made: 2, failed: 0, running: 1 });
  });

  it('finds those that are meant, a page at a time', () => {
    const calls = new RecentCalls();
    begin(calls, 'of the owner')('ok', {});
    begin(calls, 'of a grant', {}, { grantId: 'g_1' })('denied', undefined);
    begin(calls, 'of code', {}, { grantId: 'g_1', parent: 'of a grant' });
    expect(idsOf(calls, { caller: 'g_1' })).toEqual(['of code', 'of a grant']);
    expect(idsOf(calls, { caller: 'owner' })).toEqual(['of the owner']);
    expect(idsOf(calls, { outcome: 'failed' })).toEqual(['of a grant']);
    expect(idsOf(calls, { outcome: 'running' })).toEqual(['of code']);
    expect(idsOf(calls, { outcome: 'denied' })).toEqual(['of a grant']);
    expect(idsOf(calls, { parent: 'of a grant' })).toEqual(['of code']);
    expect(idsOf(calls, { server: 'others' })).toEqual([]);
    const [newest] = calls.list({}, { limit: 1 });
    expect(calls.list({}, { before: newest?.id, limit: 1 }).map(({ begun }) => begun.context.callId)).toEqual(['of a grant']);
  });

  it('forgets the oldest that have ended, never one that runs', () => {
    const calls = new RecentCalls({ most: 3 });
    begin(calls, 'runs');
    for (const id of ['1', '2', '3', '4', '5']) begin(calls, id)('ok', {});
    expect(idsOf(calls)).toEqual(['5', '4', '3', 'runs']);
  });

  it('gives up what the oldest have sent and answered when all of it is too much', { tags: ['P-514'] }, () => {
    const calls = new RecentCalls({ maxBytes: 3000 });
    for (const id of ['1', '2', '3', '4']) begin(calls, id, { text: 'x'.repeat(500) })('ok', { text: 'y'.repeat(500) });
    expect(calls.list({}, { limit: 4 }).map(({ args, result }) => [args.isGone, result.isGone])).toEqual([
      [false, false],
      [false, false],
      [true, true],
      [true, true],
    ]);
    // How large it was is still known.
    expect(calls.list({}, { limit: 4 })[3]?.args.bytes).toBeGreaterThan(500);
  });

  it('keeps no single value that is larger than 8 MiB, and none at all where it is told so', { tags: ['P-514'] }, () => {
    const calls = new RecentCalls();
    begin(calls, 'large', { text: 'x'.repeat(9_000_000) })('ok', { content: [] });
    expect(calls.list({}, { limit: 1 })[0]).toMatchObject({ args: { isGone: true }, result: { isGone: false } });
    const discreet = new RecentCalls({ keeps: false });
    begin(discreet, 'secret', { text: 'secret' })('ok', { content: [] });
    expect(discreet.list({}, { limit: 1 })[0]).toMatchObject({ args: { value: undefined, isGone: true }, outcome: 'ok' });
  });

  it('tells of each beginning and end', () => {
    const calls = new RecentCalls();
    const told: (string | undefined)[] = [];
    calls.changed.add(({ outcome }) => told.push(outcome));
    const end = begin(calls, '1');
    end('timeout', undefined);
    // An end that comes twice counts once.
    end('ok', {});
    expect(told).toEqual([undefined, 'timeout']);
    expect(calls.totals.failed).toBe(1);
  });

  it('cancels one that runs, and no other', () => {
    const calls = new RecentCalls();
    const context = contextOf('1');
    const end = calls.begin({ context, address, args: {}, label: undefined });
    const [call] = calls.list({}, { limit: 1 });
    calls.cancel(call?.id ?? '');
    expect(context.cancellation.reason).toContain('owner');
    end('cancelled', undefined);
    expect(() => calls.cancel(call?.id ?? '')).toThrow('No call "1" runs');
  });
});
