import { expect, it } from 'vitest';
import { firstOfGreediest } from './first-of-greediest.js';

const things = [
  { id: 1, of: 'one', size: 5 },
  { id: 2, of: 'other', size: 1 },
  { id: 3, of: 'other', size: 1 },
];

it('is the first of who has most, by number or by weight', () => {
  const of = (thing: { of: string }): string => thing.of;
  expect(firstOfGreediest(things, { of })?.id).toBe(2);
  expect(firstOfGreediest(things, { of, weight: ({ size }) => size })?.id).toBe(1);
  expect(firstOfGreediest(things.slice(0, 2), { of })?.id).toBe(1);
  expect(firstOfGreediest([], { of })).toBeUndefined();
});
