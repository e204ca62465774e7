import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { SentReport } from '../messages.js';
import { createSender, createSignals, SignalReceiver } from '../shared-signals.js';
import { OutputPump } from './output-pump.js';

const bytes = (text: string) => new TextEncoder().encode(text);
let posted: SentReport[];
let pump: OutputPump;
let sender: ReturnType<typeof createSender>;

beforeEach(() => {
  vi.useFakeTimers();
  posted = [];
  const signals = createSignals();
  sender = createSender(signals);
  pump = new OutputPump({
    signals: new SignalReceiver(signals),
    post(report) {
      posted.push(report);
      if (report.type === 'output') sender.acknowledge(report.characters);
    },
  });
  pump.begin(3);
});
afterEach(() => vi.useRealTimers());

const texts = () =>
  posted.map((report) => (report.type === 'output' && typeof report.output === 'object' ? String(report.output.text) : report.type));

test('a few lines go out at once, many are gathered', () => {
  for (let i = 0; i < 100; i++) pump.write('stdout', bytes('line\n'));
  expect(texts()).toEqual(Array(10).fill('line\n'));
  vi.advanceTimersByTime(50);
  expect(texts()).toEqual([...Array(10).fill('line\n'), 'line\n'.repeat(90)]);
});

test('half a line waits 50 ms: for the timer while Python waits, for tick while it computes', () => {
  pump.write('stdout', bytes('half'));
  pump.tick();
  expect(texts()).toEqual([]);
  vi.advanceTimersByTime(50);
  expect(texts()).toEqual(['half']);
  pump.write('stdout', bytes('more'));
  vi.setSystemTime(Date.now() + 60);
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 60);
  pump.tick();
  expect(texts()).toEqual(['half', 'more']);
});

test('both streams and displays stay in order, and carry the count of their cell', () => {
  pump.write('stdout', bytes('a'));
  pump.write('stderr', bytes('b'));
  pump.show({ cell: 3, output: '{}' }, 10);
  pump.write('stdout', bytes('c'));
  pump.clear({ cell: 3, wait: true });
  pump.write('stdout', bytes('d'));
  pump.end({ status: 'ok' }, 0);
  expect(texts()).toEqual(['a', 'b', 'output', 'c', 'clear', 'd', 'done']);
  expect(new Set(posted.map((report) => 'count' in report && report.count))).toEqual(new Set([3]));
});

test('the result of a cell goes out with its end, behind all text', () => {
  pump.write('stdout', bytes('half a line'));
  const result = '{}';
  pump.end({ status: 'ok', result }, 10);
  expect(texts()).toEqual(['half a line', 'done']);
  expect(posted.at(-1)).toEqual({ type: 'done', count: 3, status: 'ok', result, characters: 10 });
});

test('a character cut in two arrives whole, also between cells', () => {
  const [first, second] = [bytes('é').subarray(0, 1), bytes('é').subarray(1)];
  pump.write('stdout', first);
  pump.begin(4);
  pump.write('stdout', second);
  pump.end({ status: 'ok' }, 0);
  expect(texts()).toEqual(['é', 'done']);
});

test('one huge write comes in pieces, and an interrupt cuts it off', () => {
  pump.write('stdout', bytes('x'.repeat(200_000)));
  expect(texts().every((text) => text.length <= 33_000)).toBe(true);
  expect(texts().join('')).toHaveLength(200_000 - (200_000 % 32_768));
  posted.length = 0;
  sender.interrupt(3);
  pump.write('stdout', bytes('y'.repeat(200_000)));
  expect(texts().join('').length).toBeLessThan(70_000);
});
