/** Starts that take long to judge, if they did so more than in proportion to what is written there. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assertStartsOutside } from '@notebridge/system/processes/start-outside';
import { heedWritten } from '@notebridge/system/processes/written-rule';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { coreAndDeep } from '../support/core-and-deep.js';
import { growthOfWork } from '../support/growth.js';

let base: string;
let outside: string;
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'notebridge-written-'));
  outside = join(base, 'outside');
  mkdirSync(outside);
  heedWritten(base, () => [join(base, 'given')]);
});
afterAll(() => {
  heedWritten(base, () => []);
  rmSync(base, { recursive: true, force: true });
});

describe('a start that is large', { tags: ['P-704'] }, () => {
  const many = (size: number, ...words: string[]) => Array.from({ length: size }, () => words).flat();
  const starts: [string, (size: number) => { args: string[]; env?: Record<string, string> }][] = [
    ['variables', (size) => ({ args: [], env: Object.fromEntries(many(size, '').map((_, at) => [`V${at}`, 'plain'])) })],
    ['words that expand', (size) => ({ args: ['-c', `X=a; ${many(size, 'Y=b; ').join('')} echo ${many(size, '$X/').join('')}`] })],
    ['programs behind one another', (size) => ({ args: many(size, 'env') })],
    ['options before programs', (size) => ({ args: many(size, '-x', 'node') })],
    ['texts that are commands', (size) => ({ args: many(size, '-c', 'echo "$@"') })],
    ['modules', (size) => ({ args: many(size, '-m', 'a.b.c'), env: { PYTHONPATH: many(size, outside).join(':') } })],
  ];
  for (const { cells, tags } of coreAndDeep(starts, (_, index) => index === 2))
    it.each(cells)('costs no more than it is longer: %s', { tags }, async (_, toStart) => {
      const judge = (size: number) => assertStartsOutside({ command: 'bash', env: {}, cwd: outside, ...toStart(size) });
      judge(100);
      expect(await growthOfWork(judge, 4000)).toBeLessThan(8);
    });

  it('costs no more than it is longer: a script that starts itself again and again', async () => {
    const judge = (size: number) => {
      writeFileSync(join(outside, 'x'), 'sh ./x\n'.repeat(size));
      assertStartsOutside({ command: 'sh', args: [join(outside, 'x')], env: {}, cwd: outside });
    };
    judge(10);
    expect(await growthOfWork(judge, 1000)).toBeLessThan(8);
  });
});
