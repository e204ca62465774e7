import { silentLogger } from '@notebridge/protocol/util/logger';
import { describe, expect, it } from 'vitest';
import { createVirtualTime } from '../../test/support/hubs-in-memory.js';
import { CallLeases } from './call-leases.js';
import { createGrant } from './grant.js';

describe('CallLeases', () => {
  it.each([
    { answerMs: 2_000, tookMs: 1_999, used: 1 },
    { answerMs: 3_600_000, tookMs: 5_000, used: 2 },
  ])(
    'close when what is being given back is written, or after five seconds (%o)',
    { tags: ['P-597'] },
    async ({ answerMs, tookMs, used }) => {
      const time = createVirtualTime(1);
      const grant = createGrant({ calls: 8 }, { hash: 'h', now: time.now() });
      const records = {
        change: async <Result>(_id: string, change: (changed: typeof grant) => Result) => change(grant),
        addUsed: async (changes: ReadonlyMap<string, number>) => {
          await new Promise<void>((resolve) => void time.after(answerMs, resolve));
          grant.used += changes.get(grant.id) ?? 0;
          return undefined;
        },
      };
      const leases = new CallLeases({ records, runtime: time, logger: silentLogger });
      expect(await leases.take(grant)).toBe(true);
      // Idle for five seconds, so it is given back; and in the middle of that the hub ends.
      await time.pass(5_001);
      const before = time.steady();
      await time.until(leases.close());
      expect(Math.round(time.steady() - before)).toBe(tookMs);
      expect(grant.used).toBe(used);
    },
  );
});
