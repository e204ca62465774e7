import { expect, test } from 'vitest';
import { createSender, createSignals, SignalReceiver } from './shared-signals.js';

function pair() {
  const signals = createSignals();
  return { sender: createSender(signals), receiver: new SignalReceiver(signals) };
}

test('an interrupt is taken once', () => {
  const { sender, receiver } = pair();
  sender.interrupt(1);
  expect([receiver.isInterrupted(), receiver.takeInterrupt(), receiver.takeInterrupt()]).toEqual([true, true, false]);
});

test('an interrupt of another execution is forgotten, the own one kept', () => {
  const { sender, receiver } = pair();
  sender.interrupt(1);
  receiver.keepInterruptOf(2);
  expect(receiver.isInterrupted()).toBe(false);
  sender.interrupt(2);
  receiver.keepInterruptOf(2);
  expect(receiver.isInterrupted()).toBe(true);
});

test('room is counted beyond 32 bits', () => {
  const { sender, receiver } = pair();
  for (let sent = 0; sent < 3 * 2 ** 32; sent += 2 ** 30) {
    receiver.waitForRoom(2 ** 30, 2 ** 30);
    sender.acknowledge(2 ** 30);
  }
  // More than the window is under way now: only an interrupt lets it pass.
  receiver.waitForRoom(2 ** 30, 1);
  sender.interrupt(1);
  receiver.waitForRoom(1, 1);
  expect(receiver.takeInterrupt()).toBe(true);
});

test('an interrupt ends a sleep', () => {
  const { sender, receiver } = pair();
  sender.interrupt(1);
  const startMs = performance.now();
  receiver.sleep(60_000);
  expect(performance.now() - startMs).toBeLessThan(20_000);
});

test('a receiver without shared memory still sleeps, and says that nothing is shared', () => {
  const receiver = new SignalReceiver(undefined);
  receiver.sleep(1);
  expect([receiver.shared, receiver.takeInterrupt()]).toEqual([false, false]);
});
