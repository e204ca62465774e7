import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Output } from '../model/output.js';
import type { KernelWorker, WorkerEvents } from './kernel-worker.js';
import type { Command } from './messages.js';
import { PyodideKernel } from './pyodide-kernel.js';

/** A worker that does nothing by itself. */
class SilentWorker implements KernelWorker {
  readonly sent: (Command | { type: 'interrupt-flag'; count: number })[] = [];
  acknowledged = 0;
  terminated = false;
  readonly events: WorkerEvents;

  constructor(events: WorkerEvents) {
    this.events = events;
  }

  send(command: Command): void {
    this.sent.push(command);
  }

  interrupt(count: number): void {
    this.sent.push({ type: 'interrupt-flag', count });
  }

  acknowledge(characters: number): void {
    this.acknowledged += characters;
  }

  async terminate(): Promise<void> {
    this.terminated = true;
  }
}

let workers: SilentWorker[];
let kernel: PyodideKernel;
const outputs: Output[] = [];
const onOutput = (output: Output) => outputs.push(output);
const worker = () => workers.at(-1) as SilentWorker;
const report = (value: unknown) => worker().events.onReport(value);
const stream = (count: number, text: string) =>
  report({ type: 'output', count, characters: text.length, output: { output_type: 'stream', name: 'stdout', text } });

beforeEach(() => {
  vi.useFakeTimers();
  workers = [];
  outputs.length = 0;
  kernel = new PyodideKernel({
    startTimeoutMs: 1000,
    interruptGraceMs: 5000,
    openWorker(events) {
      workers.push(new SilentWorker(events));
      return worker();
    },
  });
});
afterEach(async () => {
  await kernel.close();
  vi.useRealTimers();
});

async function start(): Promise<void> {
  const started = kernel.start();
  report({ type: 'ready', version: '3.14.2' });
  await started;
}

describe('start', () => {
  test('is ready once the worker says so, and twice is once', async () => {
    const both = [kernel.start(), kernel.start()];
    expect(kernel.state).toBe('starting');
    report({ type: 'ready', version: '3.14.2' });
    await Promise.all(both);
    expect([kernel.state, kernel.info.version, workers.length]).toEqual(['idle', '3.14.2', 1]);
  });

  test('a start that takes too long, or fails, leaves a dead kernel that a restart revives', async () => {
    const late = expect(kernel.start()).rejects.toMatchObject({ code: 'kernel_start_failed', message: expect.stringMatching(/after 1 s/) });
    await vi.advanceTimersByTimeAsync(1000);
    await late;
    expect([kernel.state, worker().terminated]).toEqual(['dead', true]);
    const failed = expect(kernel.restart()).rejects.toMatchObject({ message: expect.stringMatching(/no such file/) });
    await vi.advanceTimersByTimeAsync(0);
    report({ type: 'dead', reason: 'no such file' });
    await failed;
    await expect(kernel.execute('1', { onOutput })).rejects.toMatchObject({ code: 'kernel_dead' });
    const restarted = kernel.restart();
    await vi.advanceTimersByTimeAsync(0);
    report({ type: 'ready', version: '3.14.2' });
    await restarted;
    expect(kernel.state).toBe('idle');
  });

  test('comes with the first cell, which fails with it', async () => {
    const cell = expect(kernel.execute('1', { onOutput })).rejects.toMatchObject({ code: 'kernel_start_failed' });
    worker().events.onExit('gone');
    await cell;
  });

  test('a start that throws leaves a dead kernel', async () => {
    const broken = new PyodideKernel({
      openWorker() {
        throw new Error('no workers here');
      },
    });
    await expect(broken.start()).rejects.toThrow('no workers here');
    expect(broken.state).toBe('dead');
  });
});

describe('reports', () => {
  test('a report that is malformed, or of another execution, changes nothing', async () => {
    await start();
    const cell = kernel.execute('1', { onOutput });
    for (const odd of [
      null,
      5,
      'done',
      [],
      {},
      { type: 'toString' },
      { type: 'done', count: 1, status: 'fine' },
      { type: 'done', count: 7, status: 'ok' },
    ])
      report(odd);
    report({ type: 'output', count: 1, characters: -5, output: { output_type: 'stream', name: 'stdout', text: '' } });
    report({ type: 'output', count: 1, characters: 5, output: { output_type: 'stream', name: 'evil', text: '' } });
    stream(2, 'of another');
    expect(kernel.state).toBe('busy');
    stream(1, 'mine');
    report({ type: 'done', count: 1, status: 'ok' });
    expect(await cell).toEqual({ status: 'ok', executionCount: 1 });
    expect(outputs).toEqual([{ output_type: 'stream', name: 'stdout', text: 'mine' }]);
  });

  test('are acknowledged, also when nobody wants them', async () => {
    await start();
    stream(9, 'background');
    expect(worker().acknowledged).toBe('background'.length);
  });

  test('an error of a listener comes out at the end of its cell, and the next runs', async () => {
    await start();
    const cell = kernel.execute('1', {
      onOutput() {
        throw new Error('listener');
      },
    });
    const next = kernel.execute('2', { onOutput });
    stream(1, 'a');
    report({ type: 'done', count: 1, status: 'ok' });
    await expect(cell).rejects.toThrow('listener');
    report({ type: 'done', count: 2, status: 'ok' });
    expect(await next).toMatchObject({ executionCount: 2 });
  });

  test('a report of death ends the cells; one of a worker that was replaced is not heard', async () => {
    await start();
    const cell = expect(kernel.execute('1', { onOutput })).rejects.toMatchObject({ code: 'kernel_died' });
    worker().events.onExit('out of memory');
    await cell;
    const old = worker();
    const restarted = kernel.restart();
    await vi.advanceTimersByTimeAsync(0);
    report({ type: 'ready', version: '3.14.2' });
    await restarted;
    old.events.onExit('again');
    old.events.onReport({ type: 'dead', reason: 'again' });
    expect(kernel.state).toBe('idle');
  });

  test('death while idle is seen at once', async () => {
    await start();
    worker().events.onExit('killed');
    expect(kernel.state).toBe('dead');
  });
});

describe('interrupt', () => {
  test('is repeated once, then Python is restarted', { tags: ['P-104'] }, async () => {
    await start();
    const cell = kernel.execute('loop', { onOutput });
    const behind = kernel.execute('2', { onOutput });
    const interrupted = kernel.interrupt();
    void kernel.interrupt();
    await vi.advanceTimersByTimeAsync(5000);
    await interrupted;
    expect(workers[0]?.sent.filter(({ type }) => type === 'interrupt-flag')).toEqual(Array(2).fill({ type: 'interrupt-flag', count: 1 }));
    expect(await cell).toEqual({ status: 'interrupted', executionCount: 1 });
    expect(await behind).toEqual({ status: 'interrupted', executionCount: 0 });
    expect(outputs).toMatchObject([{ output_type: 'error', ename: 'KernelRestarted' }]);
    expect([workers[0]?.terminated, workers.length, kernel.state]).toEqual([true, 2, 'starting']);
  });

  test('waits half a second more for code that nobody may run any more', { tags: ['P-644'] }, async () => {
    await start();
    const [cancelled, withdrawn] = [new AbortController(), new AbortController()];
    const cell = kernel.execute('loop', { onOutput, signal: cancelled.signal, withdrawn: withdrawn.signal });
    cancelled.abort();
    await vi.advanceTimersByTimeAsync(2000);
    withdrawn.abort();
    await vi.advanceTimersByTimeAsync(400);
    expect(workers).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(100);
    expect(await cell).toEqual({ status: 'interrupted', executionCount: 1 });
    expect([workers[0]?.terminated, workers.length]).toEqual([true, 2]);
  });

  test('an interrupt of nothing does nothing', async () => {
    await start();
    await kernel.interrupt();
    expect(worker().sent).toEqual([]);
  });

  test('a signal that is aborted already runs nothing', async () => {
    await start();
    expect(await kernel.execute('1', { onOutput, signal: AbortSignal.abort() })).toEqual({ status: 'interrupted', executionCount: 0 });
    expect(worker().sent).toEqual([]);
  });
});

test('completion gives up after a while, and does not wait for a busy kernel', async () => {
  await start();
  const found = kernel.complete('abc.d', 5);
  await vi.advanceTimersByTimeAsync(2000);
  expect(await found).toEqual({ matches: [], start: 5, end: 5 });
  const cell = kernel.execute('1', { onOutput });
  expect(await kernel.complete('a', 1)).toEqual({ matches: [], start: 1, end: 1 });
  report({ type: 'done', count: 1, status: 'ok' });
  await cell;
});

test('closing ends what runs and tells the listeners; afterwards nothing starts', async () => {
  await start();
  const states: string[] = [];
  kernel.onState((state) => states.push(state));
  const cell = kernel.execute('1', { onOutput });
  await kernel.close();
  expect(await cell).toEqual({ status: 'interrupted', executionCount: 1 });
  expect(states).toEqual(['busy', 'dead']);
  for (const work of [kernel.start(), kernel.restart(), kernel.execute('1', { onOutput })])
    await expect(work).rejects.toMatchObject({ code: 'kernel_closed' });
});
