import { expect, test } from 'vitest';
import { Listeners } from './listeners.js';

test('an event that is undefined is heard, and so are those after it', () => {
  const listeners = new Listeners<string | undefined>();
  const heard: unknown[] = [];
  listeners.add((event) => heard.push(event));
  for (const event of ['one', undefined, 'two']) listeners.emit(event);
  expect(heard).toEqual(['one', undefined, 'two']);
});

test('an event that a listener causes waits until all have heard the one before it', () => {
  const listeners = new Listeners<number>();
  const heard: string[] = [];
  listeners.add((event) => {
    heard.push(`first ${event}`);
    if (event === 1) listeners.emit(2);
  });
  listeners.add((event) => heard.push(`second ${event}`));
  listeners.emit(1);
  expect(heard).toEqual(['first 1', 'second 1', 'first 2', 'second 2']);
});
