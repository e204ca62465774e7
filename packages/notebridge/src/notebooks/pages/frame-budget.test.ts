import { expect, it } from 'vitest';
import { FrameBudget, unaskedFramesPerSecond } from './page-connection.js';

function createBudget(): { budget: FrameBudget; wait: (ms: number) => void; takeMany: (count: number) => number } {
  let now = 5000;
  const budget = new FrameBudget(() => now);
  const takeMany = (count: number): number => {
    let pauseMs = 0;
    for (let taken = 0; taken < count; taken++) pauseMs = budget.take();
    return pauseMs;
  };
  const wait = (ms: number): void => {
    now += ms;
  };
  return { budget, takeMany, wait };
}

it('lets a burst pass, then asks for a pause as long as what is owed', () => {
  const { takeMany, wait } = createBudget();
  expect(takeMany(unaskedFramesPerSecond)).toBe(0);
  expect(takeMany(1)).toBe(50);
  expect(takeMany(unaskedFramesPerSecond - 1)).toBe(1000);
  wait(1000);
  expect(takeMany(1)).toBe(50);
});

it('refills with time, never above a burst', () => {
  const { takeMany, wait } = createBudget();
  takeMany(unaskedFramesPerSecond);
  wait(100);
  expect(takeMany(unaskedFramesPerSecond / 10)).toBe(0);
  expect(takeMany(1)).toBeGreaterThan(0);
  wait(3_600_000);
  expect(takeMany(unaskedFramesPerSecond)).toBe(0);
  expect(takeMany(1)).toBeGreaterThan(0);
});

it('does not count the answers that we asked for', () => {
  const { budget, takeMany } = createBudget();
  for (let asked = 0; asked < 1000; asked++) budget.earn();
  expect(takeMany(unaskedFramesPerSecond + 1000)).toBe(0);
  expect(takeMany(1)).toBeGreaterThan(0);
});
