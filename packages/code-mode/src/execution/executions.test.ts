import { toTextResult } from '@notebridge/protocol/core/mcp';
import { expect, it } from 'vitest';
import { createContext } from '../../../notebridge/test/support/create-context.js';
import { Executions, type NewExecution } from './executions.js';

it('forgets no id and no answer of another, nor what still runs, whatever one principal sends', {
  tags: ['P-393'],
  timeout: 60_000,
}, async () => {
  const all = new Executions();
  let ran = 0;
  const begin = async (principalKey: string, executionId: string, work?: NewExecution['work']) => {
    const context = createContext('tools/call', {});
    const count: NewExecution['work'] = async (execution) => {
      execution.mayHaveRun = true;
      ran++;
      return toTextResult('done');
    };
    const { execution, isFirst } = all.begin({ principalKey, executionId, what: 'code', context, work: work ?? count });
    if (isFirst && work === undefined) await execution.ended;
    return isFirst;
  };
  let end = (): void => {};
  const lasting: NewExecution['work'] = () => new Promise((resolve) => (end = () => resolve(toTextResult('at last'))));
  expect(await begin('mine', 'a')).toBe(true);
  expect(await begin('other', 'lasts', lasting)).toBe(true);
  for (let n = 0; n < 25_000; n++) await begin('other', String(n));
  expect(ran).toBe(25_001);
  expect(await begin('other', 'lasts')).toBe(false);
  expect(await begin('mine', 'a')).toBe(false);
  await expect(begin('other', '24000')).rejects.toThrow('It was not run again');
  expect(ran).toBe(25_001);
  end();
  await all.close();
});

it('lets one principal have so many under way that others get in', { tags: ['P-460'] }, async () => {
  const all = new Executions();
  const ends: (() => void)[] = [];
  const begin = (principalKey: string): void => {
    const work: NewExecution['work'] = () => new Promise((resolve) => ends.push(() => resolve(toTextResult('done'))));
    all.begin({ principalKey, executionId: undefined, what: 'code', context: createContext('tools/call', {}), work });
  };
  for (let n = 0; n < 192; n++) begin('greedy');
  expect(() => begin('greedy')).toThrow(
    expect.objectContaining({ code: 'limit_reached', message: expect.stringContaining('192 executions of yours') }),
  );
  for (let n = 0; n < 64; n++) begin(`other ${n}`);
  expect(() => begin('last')).toThrow(expect.objectContaining({ message: expect.stringContaining('256 executions are under way') }));
  for (const end of ends) end();
  await all.close();
  begin('greedy');
  ends.at(-1)?.();
  await all.close();
});
