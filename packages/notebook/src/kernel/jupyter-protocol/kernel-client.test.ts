import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Output } from '../../model/output.js';
import { PendingExecution } from '../execution-queue.js';
import type { ExecuteOptions } from '../kernel.js';
import type { FutureOptions } from './execute-future.js';
import { KernelClient } from './kernel-client.js';
import type { CommMessage } from './kernel-comms.js';
import type { KernelRequest } from './kernel-message.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const text = (said: string): Output => ({ output_type: 'stream', name: 'stdout', text: said });
const shown = { name: 'stdout', text: 'x' };
const comm = { type: 'msg', commId: 'c', data: {}, metadata: {}, buffers: [] } as const;

/** A client whose kernel is the test: requests have the ids '1', '2', and so on. */
function open(isShared: boolean) {
  const sent: KernelRequest[] = [];
  const comms: CommMessage[] = [];
  const taken = new Set<string>();
  const client = new KernelClient({
    isShared,
    send: (request) => String(sent.push(request)),
    onComm: (message) => comms.push(message),
    onShown: (cause) => taken.has(cause),
  });
  const say = (channel: string, type: string, parentId: string, content: JsonObject = {}, header: JsonObject = {}) =>
    client.receive({ channel, type, parentId, content, header, parentHeader: {}, metadata: {}, buffers: [] });
  const interrupt = vi.fn(async () => {});
  const run = (options: Partial<ExecuteOptions> = {}, more: Partial<FutureOptions> = {}) => {
    const outputs: Output[] = [];
    const onOutput = (output: Output) => void outputs.push(output);
    const execution = new PendingExecution('code', { onOutput, ...options }, () => {});
    const future = client.createFuture(execution, { interrupt, onEnd: (status) => execution.end(status), ...more });
    client.execute(future);
    return { future, outputs, ended: execution.ended };
  };
  const idle = (id: string) => say('iopub', 'status', id, { execution_state: 'idle' });
  const reply = (id: string, content: JsonObject = { status: 'ok' }) => say('shell', 'execute_reply', id, content);
  return { client, sent, comms, taken, say, run, idle, reply, interrupt };
}

describe('a request', () => {
  it('is answered by its reply, or when all is heard that the kernel said before it', async () => {
    const { client, say, idle } = open(false);
    const soon = client.request('complete_request', { code: 'a' });
    const behind = client.request('kernel_info_request', {}, undefined, { behindOutput: true });
    say('shell', 'kernel_info_reply', '2', { of: 2 });
    say('shell', 'complete_reply', '1', { of: 1 });
    expect(await soon).toEqual({ of: 1 });
    const early = vi.fn();
    void behind.then(early);
    await Promise.resolve();
    expect(early).not.toHaveBeenCalled();
    idle('2');
    expect(await behind).toEqual({ of: 2 });
  });

  it('that is late, or whose connection ends, has no answer, and what it shows is no cell’s', async () => {
    const { client, say, run } = open(false);
    const { outputs } = run();
    const late = client.request('execute_request', {}, 10_000);
    const cut = client.request('inspect_request', {});
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await late).toBeUndefined();
    say('iopub', 'stream', '2', shown);
    expect(outputs).toEqual([]);
    client.endRequests();
    expect(await cut).toBeUndefined();
  });
});

describe('code', () => {
  it.each([
    ['the reply first', ['reply', 'idle']],
    ['the state first', ['idle', 'reply']],
  ] as const)('ends with its reply and the state idle: %s', async (_, order) => {
    const kernel = open(true);
    const { future, ended, outputs } = kernel.run();
    kernel.say('iopub', 'execute_input', '1', { execution_count: 7 });
    kernel.say('iopub', 'stream', '1', shown);
    const [first, second] = order;
    kernel[first]('1');
    expect(future.ended.aborted).toBe(false);
    kernel[second]('1');
    expect(await ended).toEqual({ status: 'ok', executionCount: 7 });
    kernel.say('iopub', 'stream', '1', shown);
    expect(outputs).toEqual([text('x'), text('x')]);
  });

  it('that shows something broken gets an error that says so', () => {
    const { run, say } = open(false);
    const { outputs } = run();
    say('iopub', 'display_data', '1', { data: 'no bundle' });
    expect(outputs).toMatchObject([{ output_type: 'error', ename: 'BadOutputError' }]);
  });

  it('shows what names no cell, where nobody else has one', () => {
    for (const [isShared, outputs] of [
      [false, [text('x')]],
      [true, []],
    ] as const) {
      const { run, say } = open(isShared);
      const cell = run();
      say('iopub', 'stream', 'of nobody', shown);
      expect(cell.outputs).toEqual(outputs);
    }
  });

  it('is interrupted once it has begun: where it may wait behind others, not before', async () => {
    for (const [isShared, times] of [
      [false, 1],
      [true, 0],
    ] as const) {
      const { run, say, interrupt } = open(isShared);
      const waiting = run();
      await waiting.future.interrupt();
      await vi.advanceTimersByTimeAsync(600);
      expect(interrupt).toHaveBeenCalledTimes(times);
      say('iopub', 'execute_input', '1');
      await vi.advanceTimersByTimeAsync(100);
      expect(interrupt).toHaveBeenCalledTimes(1);
    }
  });

  it('that an error of another’s cell threw out of the queue is sent again, unless it was interrupted', async () => {
    const { run, sent, idle, reply } = open(true);
    const onProgress = vi.fn();
    const again = run({}, { onProgress });
    reply('1', { status: 'aborted' });
    idle('1');
    expect(sent.map(({ type }) => type)).toEqual(['execute_request', 'execute_request']);
    expect([again.future.id, onProgress.mock.calls.length]).toEqual(['2', 2]);
    await again.future.interrupt();
    reply('2', { status: 'aborted' });
    idle('2');
    expect(await again.ended).toMatchObject({ status: 'interrupted' });
    expect(sent).toHaveLength(2);
  });

  it('ends all the same where one of the two messages is lost, in a kernel of ours', async () => {
    const { run, say, idle, reply } = open(false);
    const cut = run();
    say('iopub', 'execute_input', '1');
    await cut.future.interrupt();
    idle('1');
    await vi.advanceTimersByTimeAsync(1000);
    expect(await cut.ended).toMatchObject({ status: 'interrupted' });
    const flood = run();
    reply('2');
    await vi.advanceTimersByTimeAsync(9000);
    say('iopub', 'stream', '2', shown);
    await vi.advanceTimersByTimeAsync(9000);
    expect(flood.future.ended.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(2000);
    expect(await flood.ended).toMatchObject({ status: 'ok' });
    expect(JSON.stringify(flood.outputs)).toContain('end of the output is missing');
    const shared = open(true);
    const patient = shared.run();
    shared.reply('1');
    await vi.advanceTimersByTimeAsync(100_000);
    expect(patient.future.ended.aborted).toBe(false);
  });

  it('is answered what it asks, told the refusal, or interrupted', async () => {
    const { run, say, sent, interrupt } = open(false);
    const ask = (id: string) => say('stdin', 'input_request', id, { prompt: '?', password: false }, { msg_id: `question of ${id}` });
    run({ onInput: async ({ prompt }) => `${prompt}!` });
    ask('1');
    await vi.advanceTimersByTimeAsync(0);
    const answer = { channel: 'stdin', type: 'input_reply' };
    expect(sent[1]).toEqual({ ...answer, content: { status: 'ok', value: '?!' }, parentHeader: { msg_id: 'question of 1' } });
    run({}, { refusal: '\x04' });
    ask('3');
    await vi.advanceTimersByTimeAsync(0);
    expect(sent[3]).toMatchObject({ ...answer, content: { value: '\x04' } });
    const { future } = run();
    say('iopub', 'execute_input', '5');
    ask('5');
    await vi.advanceTimersByTimeAsync(0);
    expect([future.isInterrupted, interrupt.mock.calls.length, sent.length]).toEqual([true, 1, 5]);
  });
});

describe('a widget', () => {
  it('is told of by its own messages, and has what its callbacks show', async () => {
    const { client, comms, say, idle, run } = open(false);
    const cell = run();
    const seen: unknown[] = [];
    const handled = client.sendComm(comm, (each) => seen.push(each));
    expect(client.hasComms).toBe(true);
    say('iopub', 'comm_msg', '2', { comm_id: 'c', data: { value: 1 } });
    say('iopub', 'stream', '2', shown);
    idle('2');
    await handled;
    expect(comms).toMatchObject([{ type: 'msg', commId: 'c', data: { value: 1 } }]);
    expect(seen).toEqual([{ kind: 'output', output: text('x') }]);
    expect([client.hasComms, cell.outputs]).toEqual([false, []]);
  });

  it('takes what a cell shows within it', () => {
    const { run, say, taken } = open(false);
    const { outputs } = run();
    taken.add('1');
    say('iopub', 'stream', '1', shown);
    taken.clear();
    say('iopub', 'stream', '1', { ...shown, text: 'y' });
    expect(outputs).toEqual([text('y')]);
  });
});
