import { expect, it, onTestFinished, vi } from 'vitest';
import { createContext } from '../../../test/support/create-context.js';
import { AskedStates } from './asked-states.js';

it('leaves nothing that waits behind when the hub ends, and what it has kept opens nothing then', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const states = new AskedStates(60_000);
  const context = createContext('tools/call', { name: 'shop__plain' });
  const call = {
    address: { server: 'shop', tool: 'plain' },
    exact: '{}',
    beside: '{}',
    carried: {},
    who: { principal: 'owner', agent: 'a' },
    context,
  };
  const [taken, left] = [states.keep(call, { kind: 'asked', key: 'k' }), states.keep(call, { kind: 'asked', key: 'k' })];
  expect(states.take(taken, call)).toEqual({ kind: 'asked', key: 'k' });
  expect(vi.getTimerCount()).toBe(1);
  states.close();
  expect(vi.getTimerCount()).toBe(0);
  expect(states.take(left, call)).toBeUndefined();
});
