// @module-tag P-347

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HttpUpstream } from '../support/http-upstream.js';
import { soonerThanNeverMs } from '../support/sooner-than-never.js';
import { createCall, httpConfig, openUpstreams } from '../support/upstreams.js';

/** Who answers is not asked another way, however busy the machine is. */
const patient = { eraSilenceMs: 60_000 };
/** For who is silent: no test has to wait for long. */
const limits = { eraSilenceMs: 300 };
const modern = '2026-07-28';
const legacy = '2025-11-25';

describe('a server over HTTP whose era nobody has told', () => {
  /** Answers with what `answer` returns for a method; undefined: the connection is broken. */
  async function open(answer: (method: string) => { status?: number; body?: object } | undefined) {
    const methods: string[] = [];
    const http = createServer(async (request: IncomingMessage, response) => {
      if (request.method !== 'POST') return response.writeHead(405).end();
      const { id, method } = JSON.parse(await text(request)) as { id?: number; method: string };
      methods.push(method);
      if (id === undefined) return response.writeHead(202).end();
      const answered = answer(method);
      if (answered === undefined) return request.socket.destroy();
      const { status = 200, body } = answered;
      response.writeHead(status, { 'content-type': 'application/json' });
      return response.end(body && JSON.stringify({ jsonrpc: '2.0', id, ...body }));
    });
    http.listen(0, '127.0.0.1');
    await new Promise((resolve) => http.once('listening', resolve));
    onTestFinished(() => {
      http.closeAllConnections();
      http.close();
    });
    const { port } = http.address() as AddressInfo;
    const opened = openUpstreams([httpConfig(`http://127.0.0.1:${port}/mcp`)], { limits: patient });
    await opened.upstreams.start();
    return { ...opened, methods };
  }
  const result = { protocolVersion: legacy, capabilities: {} };

  it.each([
    ['breaks the connection', undefined],
    ['answers with a bare status', { status: 400 }],
    ['answers with an error of the server', { status: 500 }],
    ['does not find the method', { status: 404, body: { error: { code: -32601, message: 'Method not found' } } }],
    ['answers with an error', { body: { error: { code: -32000, message: 'Bad Request: Server not initialized' } } }],
  ])('a server that %s is asked the other way at once', async (_, refusal) => {
    const { server, methods } = await open((method) => (method === 'initialize' ? { body: { result } } : refusal));
    expect(server().state).toMatchObject({ status: 'running', protocolVersion: legacy, restarts: 0 });
    expect(methods.slice(0, 2)).toEqual(['server/discover', 'initialize']);
  });

  it('a server that refuses `initialize` for its headers is reached', async () => {
    const discovered = { resultType: 'complete', supportedVersions: [modern], capabilities: {} };
    const mismatch = { error: { code: -32020, message: 'Header mismatch: Mcp-Method header is missing' } };
    const { server, methods } = await open((method) =>
      method === 'server/discover' ? { body: { result: discovered } } : { status: 400, body: mismatch },
    );
    expect(server().state).toMatchObject({ status: 'running', protocolVersion: modern });
    expect(methods).toEqual(['server/discover']);
  });

  it('a server that refuses our version is asked with the one that it lists, and no other way', { tags: ['P-347'] }, async () => {
    const unsupported = {
      error: { code: -32022, message: 'Unsupported protocol version', data: { supported: [modern], requested: modern } },
    };
    const discovered = { result: { resultType: 'complete', supportedVersions: [modern], capabilities: {} } };
    const bodies = [unsupported, discovered];
    const { server, methods } = await open(() => {
      const body = bodies.shift() ?? expect.fail();
      return { status: body === unsupported ? 400 : 200, body };
    });
    expect(server().state).toMatchObject({ status: 'running', protocolVersion: modern, restarts: 0 });
    expect(methods).toEqual(['server/discover', 'server/discover']);
  });
  it.each([
    ['before', 'server/discover'],
    ['after', 'tools/list'],
  ])(
    'a server so slow that it was asked both ways, and opened a session %s the modern way was agreed on, is called without it',
    async (_, openedAt) => {
      const modernResults: Record<string, object> = {
        'server/discover': { supportedVersions: [modern], capabilities: { tools: {} } },
        'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }], ttlMs: 0, cacheScope: 'private' },
        'tools/call': { content: [] },
      };
      const answers: Record<string, () => void> = {};
      const inSession: string[] = [];
      const http = createServer(async (request, response) => {
        if (request.method !== 'POST') return response.writeHead(405).end();
        const { id, method } = JSON.parse(await text(request)) as { id?: number; method: string };
        if (request.headers['mcp-session-id'] !== undefined) inSession.push(method);
        const answer = (found: object, headers = {}): void => {
          response.writeHead(200, { 'content-type': 'application/json', ...headers });
          response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...found } }));
        };
        const initialized = () => answer({ protocolVersion: legacy, capabilities: {} }, { 'mcp-session-id': 'late' });
        const isFirst = answers[method] === undefined;
        answers[method] ??= method === 'initialize' ? initialized : () => answer(modernResults[method] ?? {});
        // The first question is answered when the other one is here, and `initialize` before the next one is sent, or the one behind it.
        if (method === 'initialize') answers['server/discover']?.();
        else if (method !== 'server/discover' || !isFirst) {
          if (method === openedAt) answers.initialize?.();
          setImmediate(() => answer(modernResults[method] ?? {}));
        }
        return response;
      });
      http.listen(0, '127.0.0.1');
      await new Promise((resolve) => http.once('listening', resolve));
      onTestFinished(() => {
        http.closeAllConnections();
        http.close();
      });
      const { port } = http.address() as AddressInfo;
      const { upstreams, server, call } = openUpstreams([httpConfig(`http://127.0.0.1:${port}/mcp`)], { limits });
      await upstreams.start();
      expect(server().state).toMatchObject({ status: 'running', protocolVersion: modern });
      await server().listTools();
      // An agent of the legacy era would have a session of its own.
      const caller = { sessionId: 'test', door: 'library', era: 'modern', clientInfo: undefined } as const;
      expect(await call('echo', {}, createCall('echo', {}, { caller }))).toMatchObject({ content: [] });
      expect(inSession).toEqual([]);
    },
  );

  it.each(['sessions', 'sse', 'modern'] as const)('a server of the official SDK (%s) is reached', async (kind) => {
    const upstream = await HttpUpstream.open(kind);
    const config = httpConfig(upstream.url, { transport: kind === 'sse' ? 'sse' : 'http' });
    const { upstreams, server } = openUpstreams([config], { limits: patient });
    const startedAt = performance.now();
    await upstreams.start();
    expect(server().state).toMatchObject({ status: 'running', protocolVersion: kind === 'modern' ? modern : legacy });
    expect(performance.now() - startedAt).toBeLessThan(soonerThanNeverMs);
  });
});
