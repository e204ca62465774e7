import { PassThrough } from 'node:stream';
import { MemoryProvider } from '@notebridge/protocol/core/memory-provider';
import { expect, it, vi } from 'vitest';
import { Hub } from '../../hub.js';
import { serveStdio } from './stdio.js';

const call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work"}}\n';

it('answers what runs when the input ends, and then closes', async () => {
  const { input, output, door, finish } = open();
  input.end(call);
  await vi.waitUntil(() => finish.length === 1, 20_000);
  finish[0]?.();
  await door.closed;
  expect(String(output.read())).toBe('{"jsonrpc":"2.0","id":1,"result":{"content":[]}}\n');
});

it('waits for no call for ever: one that does not end is cancelled', async () => {
  const { input, output, door, cancelled } = open();
  input.end(call);
  await door.closed;
  expect(cancelled).toEqual(['the connection was closed']);
  expect(output.read()).toBeNull();
});

it('closes at once when its input breaks', async () => {
  const { input, door, cancelled } = open();
  input.write(call);
  await vi.waitUntil(() => input.readableLength === 0, 20_000);
  input.destroy(new Error('EIO'));
  await door.closed;
  expect(cancelled).toEqual(['the connection was closed']);
});

it('closing it twice is harmless, and nothing is written after', async () => {
  const { input, output, door } = open();
  door.close();
  door.close();
  await door.closed;
  input.write('{"jsonrpc":"2.0","id":2,"method":"ping"}\n');
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  expect(output.read()).toBeNull();
});

it('answers too long a message with what is wrong, and goes on', { tags: ['P-139'] }, async () => {
  const { input, output } = open();
  input.write(`"${'x'.repeat(2000)}"\n{"jsonrpc":"2.0","id":3,"method":"ping"}\n`);
  await vi.waitUntil(() => output.readableLength > 0, 20_000);
  const [fault, pong] = String(output.read()).trim().split('\n');
  expect(JSON.parse(fault ?? '')).toMatchObject({ id: null, error: { code: -32001, data: { code: 'message_too_large' } } });
  expect(JSON.parse(pong ?? '')).toEqual({ jsonrpc: '2.0', id: 3, result: {} });
});

function open() {
  const finish: (() => void)[] = [];
  const cancelled: string[] = [];
  const hub = new Hub();
  hub.addProvider(
    new MemoryProvider({
      tools: [
        {
          name: 'work',
          inputSchema: { type: 'object' },
          run: (_args, { cancellation }) => {
            cancellation.onCancel((reason) => cancelled.push(reason));
            return new Promise((resolve) => finish.push(() => resolve({ content: [] })));
          },
        },
      ],
    }),
  );
  const input = new PassThrough();
  const output = new PassThrough();
  return { input, output, finish, cancelled, door: serveStdio(hub, { input, output, maxMessageLength: 1000 }) };
}
