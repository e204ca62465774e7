// @module-tag P-260

/** The host's end of what code asks for, against a worker that lies: no kernel, since none of ours would. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createRelayFetch } from '@notebridge/sandbox/relay/relay-fetch';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FetchLimits, FetchService } from '../../src/kernel/fetch-service.js';
import { type HostService, openHostCalls, type ServiceMessage } from '../../src/kernel/host-services.js';
import type { KernelTools } from '../../src/kernel/kernel-tools.js';
import { type HostCommand, parseReport, type ToolCommand } from '../../src/kernel/messages.js';
import { createNodeKernel } from '../../src/kernel/node-kernel.js';
import { openToolCalls } from '../../src/kernel/tool-calls.js';
import { until } from '../host/support/until.js';

const asksAndTakesNothing = `
import { writeSync } from 'node:fs';
const say = (report) => {
  const bytes = Buffer.from(JSON.stringify(report) + '\\n');
  for (let at = 0; at < bytes.length; )
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
};
say({ type: 'ready', version: '3' });
const ask = (id, request) => say({ type: 'hostCall', id, service: 'files', text: JSON.stringify(request) });
ask(1, { op: 'open', path: 'large' });
for (let id = 2; ; id++) ask(id, { op: 'read', handle: 1, at: 0, length: 1048576 });
`;

const never: HostService = { call: () => new Promise(() => {}), close: async () => {} };
const call = (id: number, service: 'files' | 'network' = 'files') => ({ type: 'hostCall', id, service, text: '{}' }) as const;

describe('calls of a worker', () => {
  test('are answered once each, refused where there is no service, and bounded', async () => {
    const sent: HostCommand[] = [];
    const calls = openHostCalls({ network: () => never }, (command) => sent.push(command));
    calls.take(call(1));
    await until(() => sent.length);
    expect(sent).toEqual([{ type: 'hostAnswer', id: 1, text: '{"error":"code in this notebook has no files"}' }]);
    for (let id = 10; id < 10 + 1024; id++) calls.take(call(id, 'network'));
    calls.take(call(10, 'network'));
    calls.take(call(5000, 'network'));
    calls.take({ type: 'hostCancel', id: 9999 });
    expect(sent.slice(1)).toMatchObject([{ id: 5000, text: expect.stringContaining('1024 calls') }]);
    await calls.close();
    calls.take(call(6000));
    await calls.close();
    expect(sent).toHaveLength(2);
  });

  test('are refused before they are parsed where they are longer than any of ours', async () => {
    const sent: HostCommand[] = [];
    const asked: ServiceMessage[] = [];
    const service: HostService = {
      call: async (request) => {
        asked.push(request);
        return { text: '{}' };
      },
      close: async () => {},
    };
    const calls = openHostCalls({ files: () => service }, (command) => sent.push(command));
    calls.take({ ...call(1), text: `[${'[],'.repeat(100_000)}0]` });
    calls.take(call(2));
    await until(() => sent.length === 2);
    expect(sent).toMatchObject([{ id: 1, text: expect.stringContaining('131072 characters') }, { id: 2 }]);
    expect(asked).toHaveLength(1);
    await calls.close();
  });

  test('a call of a tool is refused before it is parsed where its arguments are millions of values', async () => {
    const sent: ToolCommand[] = [];
    const bodies: string[] = [];
    const tools: KernelTools = {
      package: { state: 'none', reason: 'no need' },
      start: () => {},
      onPackage: () => () => {},
      call: async ({ body }) => {
        bodies.push(body);
        return '{}';
      },
    };
    const calls = openToolCalls({ tools, send: (command) => sent.push(command), askerOf: () => undefined });
    const toolCall = { type: 'toolCall', server: 'a', tool: 'b', hears: false } as const;
    calls.take({ ...toolCall, id: 1, body: `{"arguments":{"a":[${'[],'.repeat(2_100_000)}0]}}` });
    calls.take({ ...toolCall, id: 2, body: '{"arguments":{}}' });
    await until(() => sent.length === 3);
    expect(sent.slice(1)).toMatchObject([
      { id: 1, text: expect.stringContaining('2000000 values') },
      { id: 2, text: '{}' },
    ]);
    expect(bodies).toEqual(['{"arguments":{}}']);
    calls.close();
  });

  test('end a process that asks for answers and takes none', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'notebridge-asks-'));
    writeFileSync(join(folder, 'large'), Buffer.alloc(1024 * 1024));
    mkdirSync(join(folder, 'kernel', 'worker'), { recursive: true });
    const entry = join(folder, 'kernel', 'worker', 'hostile.mjs');
    writeFileSync(entry, asksAndTakesNothing);
    const kernel = createNodeKernel({ folder: { folder }, sandbox: 'off', files: { workerUrl: pathToFileURL(entry) } });
    try {
      await kernel.start();
      await expect(kernel.execute('1', { onOutput: () => {} })).rejects.toThrow(/did not take what it was sent/);
    } finally {
      await kernel.close();
      rmSync(folder, { recursive: true, force: true });
    }
  }, 60_000);

  test.each([
    { type: 'hostCall', id: 1, service: 'shell', text: '' },
    { type: 'hostCall', id: -1, service: 'files', text: '' },
    { type: 'hostCall', id: 1, service: 'files', text: 5 },
    { type: 'hostCall', id: 1, service: 'files', text: '', data: 'text' },
    { type: 'hostCall', id: 1, service: 'files', text: '', data: [1, 2] },
    { type: 'hostCancel' },
  ])('are no calls where they do not look like one: %j', (report) => {
    expect(parseReport(report)).toBeUndefined();
  });
});

describe('fetching', () => {
  let server: Server;
  let waiting = 0;
  beforeAll(async () => {
    server = createServer((request, response) => {
      if (request.url === '/wait') return void waiting++;
      response.end(Buffer.alloc(3_000_000));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const open = (limits: FetchLimits) => {
    const { port } = server.address() as AddressInfo;
    const seam = { lookup: async () => ['127.0.0.1'], mayConnect: () => true };
    const service = new FetchService(createRelayFetch({ allow: [`api.example:${port}`], seam }), limits);
    const ask = async (request: object, signal = new AbortController().signal) => {
      const { text, data } = await service.call({ text: JSON.stringify(request) }, signal);
      return { ...(JSON.parse(text) as { handle: number; status: number }), bytes: data?.byteLength ?? 0 };
    };
    return {
      service,
      ask,
      send: (path: string, signal?: AbortSignal) => ask({ op: 'open', url: `http://api.example:${port}${path}` }, signal),
    };
  };

  test('gives up an answer that is larger than allowed, in pieces of a mebibyte', async () => {
    const { service, ask, send } = open({ maxBytes: 2_500_000 });
    const { handle } = await send('/large');
    let total = 0;
    const readAll = async () => {
      for (;;) {
        const { bytes } = await ask({ op: 'read', handle });
        expect(bytes).toBeLessThanOrEqual(1024 * 1024);
        total += bytes;
      }
    };
    await expect(readAll()).rejects.toThrow(/more than 2500000 bytes/);
    expect(total).toBeLessThanOrEqual(2_500_000);
    await expect(ask({ op: 'read', handle })).rejects.toThrow(/not there any more/);
    await service.close();
  });

  test('lets others wait for their turn, and ends all with the worker', { tags: ['deep'] }, async () => {
    const { service, send } = open({ maxRequests: 2 });
    waiting = 0;
    const all = Array.from({ length: 5 }, () => send('/wait').catch((error: Error) => error.message));
    await until(() => waiting === 2);
    await service.close();
    expect(await Promise.all(all)).toHaveLength(5);
    expect(waiting).toBe(2);
  });

  test('has room again after an answer that nobody reads', { tags: ['deep'] }, async () => {
    const { service, ask, send } = open({ maxRequests: 1, timeoutMs: 3000 });
    const { handle } = await send('/large');
    expect((await send('/large')).status).toBe(200);
    await expect(ask({ op: 'read', handle })).rejects.toThrow(/not there any more/);
    await service.close();
  });

  test('keeps no more of what is to be sent than a bound, however many wait', { tags: ['deep'] }, async () => {
    const { service } = open({ maxRequests: 1 });
    const { port } = server.address() as AddressInfo;
    waiting = 0;
    const data = new Uint8Array(30 * 1024 * 1024);
    const text = JSON.stringify({ op: 'open', method: 'POST', url: `http://api.example:${port}/wait` });
    const all = Array.from({ length: 8 }, () =>
      service.call({ text, data }, new AbortController().signal).then(
        () => 'sent',
        (error: Error) => error.message,
      ),
    );
    await until(() => waiting === 1);
    await service.close();
    const refused = (await Promise.all(all)).filter((message) => /134217728 bytes at most/.test(message));
    expect(refused).toHaveLength(4);
  });

  test('reads one piece of an answer at a time', { tags: ['deep'] }, async () => {
    const { service, ask, send } = open({});
    const { handle } = await send('/large');
    const both = await Promise.allSettled([ask({ op: 'read', handle }), ask({ op: 'read', handle })]);
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    await service.close();
  });

  test('ends by itself after the time that is allowed', async () => {
    const { service, send } = open({ timeoutMs: 100 });
    await expect(send('/wait')).rejects.toThrow(/given up/);
    await service.close();
  });
});
