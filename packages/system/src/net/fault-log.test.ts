import type { JsonObject } from '@notebridge/protocol/json';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { expect, it } from 'vitest';
import { FaultLog } from './fault-log.js';

it('reports each kind of fault at the first time and at each doubling', () => {
  const lines: [string, JsonObject | undefined][] = [];
  const faults = new FaultLog({ ...silentLogger, warn: (message, fields) => void lines.push([message, fields]) });
  for (let n = 1; n <= 10; n++) faults.report('one kind', { n });
  faults.report('another kind');
  expect(lines).toEqual([
    ['one kind', { n: 1 }],
    ['one kind', { n: 2, times: 2 }],
    ['one kind', { n: 4, times: 4 }],
    ['one kind', { n: 8, times: 8 }],
    ['another kind', {}],
  ]);
});
