import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { RunnableTool } from '@notebridge/protocol/core/memory-provider';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { coreAndDeep } from '../support/core-and-deep.js';
import { exchange, requestBytes, untilClosed } from '../support/raw-http.js';
import { jsonHeaders, type OpenToolProxy, openToolProxy } from '../support/tool-proxy.js';

/** Never answers; a caller that takes a stream hears of it at once. */
const silent: RunnableTool = {
  name: 'silent',
  inputSchema: { type: 'object' },
  run: (_, context) => {
    context.forwardProgress({ progress: 1 });
    return new Promise(() => {});
  },
};
const upgradeRefusal = 'HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';

let open: OpenToolProxy;
beforeEach(async () => {
  const onUpgrade = (_: unknown, socket: { end(text: string): void }): void => socket.end(upgradeRefusal);
  open = await openToolProxy({ tools: [silent], listen: { timeouts: { headersMs: 2000, requestMs: 3000 }, onUpgrade } });
});
afterEach(() => open.close());

const port = () => open.listener.port;
const callBytes = (tool: string, headers: Record<string, string | undefined> = {}): Buffer =>
  requestBytes(port(), {
    method: 'POST',
    target: `/api/v1/mcp/proxy/github/tools/${tool}`,
    headers: { ...jsonHeaders, connection: 'keep-alive', ...headers },
    body: '{"arguments":{}}',
  });
const upgradeBytes = (): Buffer => requestBytes(port(), { target: '/', headers: { connection: 'upgrade', upgrade: 'websocket' } });
const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
const dial = (bytes: Uint8Array): Socket => {
  const socket = connect(port(), '127.0.0.1').on('error', () => {});
  socket.write(bytes);
  return socket;
};

const refusedPieces: [string, () => string | Buffer][] = [
  ['no HTTP', () => 'hello\r\n\r\n'],
  ['a head that is too long', () => `GET / HTTP/1.1\r\nx: ${'x'.repeat(40_000)}\r\n\r\n`],
  ['half a head, for ever', () => 'GET / HTTP/1.1\r\nx: '],
  ['a refused upgrade', upgradeBytes],
];

for (const { cells, tags } of coreAndDeep(refusedPieces, ([what]) => what === 'no HTTP' || what === 'a refused upgrade'))
  describe.each(cells)('%s behind a call that runs', { tags }, (_, bytes) => {
    it('is not answered in its place', { tags: ['P-201'] }, async () => {
      const socket = dial(callBytes('wait'));
      await open.test.waiting();
      socket.write(bytes());
      expect(await untilClosed(socket)).toBe('');
      expect(await open.test.cancelled()).toContain('closed the connection');
    });

    it('is not answered in the middle of its stream', { tags: ['P-201'] }, async () => {
      const socket = dial(callBytes('silent', { accept: 'application/x-ndjson' }));
      await once(socket, 'readable');
      socket.write(bytes());
      expect(statuses(await untilClosed(socket))).toEqual(['200']);
    });
  });

describe('a connection', () => {
  it('gets one answer to a request that was refused and never ends', { tags: ['deep'] }, async () => {
    const text = await exchange(port(), callBytes('hello', { authorization: undefined, 'content-length': '1000' }));
    expect(statuses(text)).toEqual(['401']);
  });

  it('gets the refusal of what cannot be read behind the answers before it', { tags: ['deep'] }, async () => {
    const socket = dial(callBytes('hello'));
    const [first] = (await once(socket, 'data')) as [Buffer];
    socket.write('hello\r\n\r\n');
    expect(statuses(String(first) + (await untilClosed(socket)))).toEqual(['200', '400']);
  });

  it('may have 64 requests wait one behind the other, and is cut with more', { tags: ['P-202'] }, async () => {
    const waits = (count: number): Buffer[] => Array.from({ length: count }, () => callBytes('wait'));
    const socket = dial(Buffer.concat(waits(64)));
    for (let count = 0; count < 64; count++) await open.test.waiting();
    open.test.release();
    socket.write(callBytes('hello', { connection: 'close' }));
    expect(statuses(await untilClosed(socket))).toEqual(Array.from({ length: 65 }, () => '200'));
    expect(statuses(await exchange(port(), Buffer.concat(waits(65))))).toEqual([]);
    const said = 'A connection asked for more answers at once than may wait on it, and was cut.';
    expect(open.log.map(({ message }) => message)).toContain(said);
    expect(statuses(await exchange(port(), callBytes('hello', { connection: 'close' })))).toEqual(['200']);
  });
});
