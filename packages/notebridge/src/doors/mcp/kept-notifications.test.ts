import type { JsonObject } from '@notebridge/protocol/json';
import { expect, it } from 'vitest';
import { KeptNotifications } from './unread-notifications.js';

const log = (data: unknown): JsonObject => ({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data } });
const dropped = (count: number): unknown => expect.stringContaining(`Dropped ${count} notifications`);
const dataOf = ({ params }: JsonObject): unknown => (params as { data: unknown }).data;

it('keeps the newest, in order, and gives them away once', () => {
  const kept = new KeptNotifications();
  for (let n = 0; n < 250; n++) kept.add(log(n));
  expect(kept.takeAll().map(dataOf)).toEqual([dropped(150), ...Array.from({ length: 100 }, (_, n) => n + 150)]);
  expect(kept.takeAll()).toEqual([]);
});

it('keeps one of the changes of a list', () => {
  const kept = new KeptNotifications();
  const change = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
  for (let n = 0; n < 3; n++) kept.add(change);
  expect(kept.takeAll()).toEqual([change]);
});

it('says of a list that it has changed, also when that was dropped', () => {
  const kept = new KeptNotifications();
  const change = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
  kept.add(change);
  for (let n = 0; n < 100; n++) kept.add(log(n));
  expect(kept.takeAll()).toHaveLength(101);
  expect(kept.takeAll()).toEqual([]);
  kept.add(change);
  for (let n = 0; n < 100; n++) kept.add(log(n));
  expect(kept.takeAll()[0]).toEqual(change);
});

it('keeps no more than a million characters, however large each is, and none that cannot be printed', () => {
  const kept = new KeptNotifications();
  for (let n = 0; n < 10; n++) kept.add(log(`${n}${'x'.repeat(300_000)}`));
  expect(kept.takeAll().map((each) => String(dataOf(each)).slice(0, 9))).toEqual(['Dropped 7', '7xxxxxxxx', '8xxxxxxxx', '9xxxxxxxx']);
  kept.add(log('small'));
  kept.add(log('x'.repeat(2_000_000)));
  let deep: unknown[] = [];
  for (let level = 0; level < 100_000; level++) deep = [deep];
  kept.add(log(deep));
  expect(kept.takeAll().map(dataOf)).toEqual([dropped(2), 'small']);
});
