// @module-tag P-564

import { describe, expect, it } from 'vitest';
import { planFaults } from './fault-plan.js';
import { judgeSoak, type SoakCall, type SoakEvidence } from './judge-soak.js';

const call = (n: number, more: Partial<SoakCall> = {}): SoakCall => ({
  n,
  by: 'sandbox',
  hub: 0,
  startMs: 1000,
  endMs: 2000,
  outcome: 'ok',
  ...more,
});
const judged = (more: Partial<SoakEvidence>): string[] =>
  judgeSoak({ calls: [], executed: [], faults: [], budgets: {}, notBack: [], ...more }).broken;

describe('judgeSoak', () => {
  it('finds nothing where all was kept', () => {
    const calls = [call(1), call(2, { outcome: 'error', why: 'hub_gone' }), call(3, { outcome: 'error', why: 'hub_gone' })];
    expect(judgeSoak({ calls, executed: [1, 2], faults: [], budgets: {}, notBack: [] })).toEqual({
      counts: { sandbox: { ok: 1, 'error: hub_gone': 2 } },
      broken: [],
    });
  });

  it.each<[string, Partial<SoakEvidence>, RegExp]>([
    ['a wrong answer', { calls: [call(1, { outcome: 'wrong', why: '2' })], executed: [1] }, /call 1 .* wrong answer: 2/],
    ['a call that was executed twice', { calls: [call(1)], executed: [1, 1] }, /executed 2 times/],
    ['an answer without an execution', { calls: [call(1)] }, /answered and never executed/],
    ['an execution without a call', { executed: [7] }, /7 was executed, and nobody/],
    [
      'a call that hangs',
      { calls: [call(1, { outcome: 'timeout', hub: 1 })], faults: [{ kind: 'pause', at: 0, startMs: 0, endMs: 9000 }] },
      /got nothing/,
    ],
    [
      'a budget that was exceeded',
      { calls: [call(1, { grant: 'g' }), call(2, { grant: 'g' })], executed: [1, 2], budgets: { g: 1 } },
      /made 2 calls/,
    ],
    [
      'who is told that a tool is not there',
      { calls: [call(1, { by: 'modern', outcome: 'error', why: '-32602 Unknown tool: "ledger__mark".' })] },
      /call 1 of modern at hub 0, of a tool that there is, got -32602/,
    ],
    ['who is not back', { notBack: ['modern at hub 2'] }, /modern at hub 2 is not back/],
  ])('finds %s', (_name, evidence, said) => {
    expect(judged(evidence)).toEqual([expect.stringMatching(said)]);
  });

  it('excuses a caller that waited at the hub that was paused', () => {
    const faults = [{ kind: 'pause', at: 0, startMs: 0, endMs: 9000 }];
    expect(judged({ calls: [call(1, { outcome: 'timeout' })], faults })).toEqual([]);
  });
});

describe('planFaults', () => {
  it('plans each kind once a minute, one after the other, and the same for the same seed', () => {
    const options = { seed: 7, seconds: 185, hubs: 3, isSpread: true };
    const faults = planFaults(options);
    expect(faults.map(({ kind }) => kind)).toEqual(Array(3).fill(['kill', 'cut', 'nats', 'drain', 'pause']).flat());
    for (const [index, { fromMs }] of faults.entries())
      if (index > 0) expect(fromMs).toBeGreaterThan((faults[index - 1]?.fromMs ?? 0) + (faults[index - 1]?.forMs ?? 0));
    expect(planFaults(options)).toEqual(faults);
    expect(planFaults({ ...options, seed: 8 })).not.toEqual(faults);
  });

  it('makes a short run of one minute', () => {
    const faults = planFaults({ seed: 1, seconds: 25, hubs: 1, isSpread: false });
    expect(faults.map(({ kind, at }) => [kind, at])).toEqual([
      ['kill', 0],
      ['pause', 0],
    ]);
    expect(Math.max(...faults.map(({ fromMs, forMs }) => fromMs + forMs))).toBeLessThan(20_000);
  });
});
