import type { BegunCall, CallObserver } from '@notebridge/protocol/core/call-observer';
import { expect, it } from 'vitest';
import { CallObservers } from './call-observers.js';

it('tells each observer that is on of the beginning and the end, and the others nothing', () => {
  const told: string[] = [];
  const observer = (name: string, isOn: boolean): CallObserver => ({
    isOn,
    begin: () => {
      told.push(`${name} begins`);
      return (outcome) => told.push(`${name} ends: ${outcome}`);
    },
  });
  const observers = new CallObservers(observer('off', false));
  expect(observers.isOn).toBe(false);
  observers.add(observer('one', true));
  expect(observers.isOn).toBe(true);
  observers.begin({} as BegunCall)('ok', {});
  expect(told.splice(0)).toEqual(['one begins', 'one ends: ok']);
  observers.add(observer('two', true));
  observers.begin({} as BegunCall)('denied', undefined);
  expect(told).toEqual(['one begins', 'two begins', 'one ends: denied', 'two ends: denied']);
});
