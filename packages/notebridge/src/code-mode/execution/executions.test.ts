import { expect, it } from 'vitest';
import { createContext } from '../../../test/support/create-context.js';
import { toTextResult } from '../../core/mcp.js';
import { Executions, type NewExecution } from './executions.js';

it('forgets no id of another, nor of what still runs, whatever one principal sends', async () => {
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
  await expect(begin('mine', 'a')).rejects.toThrow('It was not run again');
  expect(ran).toBe(25_001);
  end();
  await all.close();
}, 60_000);
