import type { JsonObject } from '@notebridge/kit/json';
import { expect, it } from 'vitest';
import { KeptNotifications } from './kept-notifications.js';

const log = (data: unknown): JsonObject => ({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data } });
const dataOf = ({ params }: JsonObject): unknown => (params as { data: unknown }).data;

it('keeps the newest, in order, and gives them away once', () => {
  const kept = new KeptNotifications();
  for (let n = 0; n < 250; n++) kept.add(log(n));
  expect(kept.takeAll().map(dataOf)).toEqual(Array.from({ length: 100 }, (_, n) => n + 150));
  expect(kept.takeAll()).toEqual([]);
});

it('keeps one of the changes of a list', () => {
  const kept = new KeptNotifications();
  const change = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
  for (let n = 0; n < 3; n++) kept.add(change);
  expect(kept.takeAll()).toEqual([change]);
});

it('keeps no more than a million characters, however large each is, and none that cannot be printed', () => {
  const kept = new KeptNotifications();
  for (let n = 0; n < 10; n++) kept.add(log(`${n}${'x'.repeat(300_000)}`));
  expect(kept.takeAll().map((each) => String(dataOf(each)).charAt(0))).toEqual(['7', '8', '9']);
  kept.add(log('small'));
  kept.add(log('x'.repeat(2_000_000)));
  let deep: unknown[] = [];
  for (let level = 0; level < 100_000; level++) deep = [deep];
  kept.add(log(deep));
  expect(kept.takeAll().map(dataOf)).toEqual(['small']);
});
