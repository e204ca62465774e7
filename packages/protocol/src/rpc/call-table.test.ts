import { expect, it } from 'vitest';
import { CallTable } from './call-table.js';

it('keeps calls of any id, many of one place in the ring too', () => {
  const table = new CallTable<string>();
  const ids = [0, 1, -1, 256, 512, 1.5, 2 ** 53, -(2 ** 40), '1', '', 's', Number.MAX_VALUE];
  for (const id of ids) table.add(id, `call ${id}`);
  expect(table.size).toBe(ids.length);
  for (const id of ids) expect(table.get(id)).toBe(`call ${id}`);
  for (const id of ids) expect(table.take(id)).toBe(`call ${id}`);
  for (const id of ids) expect(table.take(id)).toBeUndefined();
  expect(table.size).toBe(0);
});

it('finds a call that had to make way when its place was taken, after the place is free again', () => {
  const table = new CallTable<string>();
  table.add(1, 'first');
  table.add(257, 'second');
  expect(table.take(1)).toBe('first');
  expect(table.get(257)).toBe('second');
  table.add(513, 'third');
  expect([table.take(257), table.take(513)]).toEqual(['second', 'third']);
});

it('gives all of them up at once', () => {
  const table = new CallTable<number>();
  for (let id = 0; id < 1000; id++) table.add(id, id);
  expect(table.all().sort((a, b) => a - b)).toEqual(Array.from({ length: 1000 }, (_, id) => id));
  expect(table.takeAll().sort((a, b) => a - b)).toEqual(Array.from({ length: 1000 }, (_, id) => id));
  expect(table.size).toBe(0);
});
