// @module-tag P-182

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NotificationBrake, type Said } from './notification-brake.js';

let passed: Said[];
let brake: NotificationBrake;
beforeEach(() => {
  vi.useFakeTimers();
  passed = [];
  brake = new NotificationBrake({ sender: 'the notebook page', pass: (said) => passed.push(said), now: () => Date.now() });
});
afterEach(() => {
  brake.close();
  vi.useRealTimers();
});

const send = (method: string, count: number, params = {}): void => {
  for (let number = 0; number < count; number++) brake.take({ method: `notifications/${method}`, params });
};
const lines = (): string[] => passed.map(({ params }) => String(params?.data));

describe('NotificationBrake', () => {
  it('passes a burst, then what refills, and reports once how many it dropped', () => {
    send('message', 100_000);
    expect(passed).toHaveLength(1000);
    vi.advanceTimersByTime(2000);
    expect(passed.slice(1000)).toMatchObject([{ method: 'notifications/message', params: { level: 'warning', logger: 'notebridge' } }]);
    expect(lines().at(-1)).toMatch(/^Dropped 99000 notifications of the notebook page:/);
    send('message', 1000);
    expect(passed.slice(1001)).toHaveLength(200);
  });

  it('reports after 10 s a flood that does not end', () => {
    for (let second = 0; second < 11; second++) {
      send('message', 2000, { data: second });
      vi.advanceTimersByTime(1000);
    }
    expect(lines().filter((line) => line.startsWith('Dropped'))).toHaveLength(1);
  });

  it('passes changes of a list a few times, the last one certainly, and passes resource updates beside a flood of logs', () => {
    send('message', 100_000);
    send('tools/list_changed', 300);
    send('prompts/list_changed', 1);
    send('resources/updated', 1, { uri: 'a:1' });
    send('tools/list_changed', 1, { last: true });
    const methods = (): string[] => passed.slice(1000).map(({ method }) => method.replace('notifications/', ''));
    expect(methods()).toEqual(['tools/list_changed', 'prompts/list_changed', 'resources/updated']);
    vi.advanceTimersByTime(200);
    expect(passed.slice(1003)).toEqual([{ method: 'notifications/tools/list_changed', params: { last: true } }]);
    send('resources/updated', 2000);
    vi.advanceTimersByTime(2000);
    expect(lines().at(-1)).toContain('read again what you watch');
  });

  it('counts unknown methods like logs, also those that look like changes of lists', () => {
    for (let number = 0; number < 5000; number++) send(`x${number}/list_changed`, 1);
    expect(passed).toHaveLength(1000);
  });

  it('drops what is too large, or too deep to be sent', () => {
    send('message', 10, { data: 'x'.repeat(1_000_000) });
    expect(passed).toHaveLength(4);
    let deep: unknown = [];
    for (let depth = 0; depth < 100_000; depth++) deep = [deep];
    send('message', 1, { data: deep });
    expect(passed).toHaveLength(4);
  });
});
