// @module-tag deep

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@notebridge/protocol/json';
import { beforeAll, describe, expect, it } from 'vitest';
import { newerNode } from '../../../../scripts/newer-node.mjs';
import { type AgentReply, openLegacyAgent, openModernAgent } from '../support/http-agent.js';
import { OtlpReceiver } from '../support/otlp-receiver.js';
import { runProgram } from '../support/program.js';
import { ServedHub, type ServedHubOptions } from '../support/served-hub.js';
import { soonerThanNeverMs } from '../support/sooner-than-never.js';

const slow = 180_000;
const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/servers/${name}.mjs`, import.meta.url));
const servers = { meta: { command: process.execPath, args: [fixture('tells-meta')] } };
const trace = { id: '4bf92f3577b34da6a3ce929d0e0e4736', span: '00f067aa0ba902b7' };
const other = { id: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', span: 'bbbbbbbbbbbbbbbb' };
const ofLegacy = { id: 'cccccccccccccccccccccccccccccccc', span: 'dddddddddddddddd' };
const traceparent = ({ id, span }: typeof trace, flags = '01'): string => `00-${id}-${span}-${flags}`;

/** The packages of OpenTelemetry need one newer than the oldest that Notebridge runs on. */
const isNewEnough = Number(process.versions.node.split('.')[0]) >= 23;
/** The `_meta` that a call reached its server with. */
const metaOf = ({ result }: AgentReply): JsonObject => (result?.structuredContent ?? {}) as JsonObject;

let node: string;
beforeAll(async () => {
  node = await newerNode();
}, 300_000);

/** A hub that sends to the endpoint. */
function startHub(endpoint: string, otlp: JsonObject = {}, more: ServedHubOptions = {}): Promise<ServedHub> {
  const args = ['--notebook', 'none', ...(more.args ?? [])];
  return ServedHub.start({ servers, node, ...more, args, notebridge: { telemetry: { otlp: { endpoint, ...otlp } } } });
}

describe('a trace', () => {
  it('goes from the agent through code mode to the server, with no argument and no result in it', {
    tags: ['P-504'],
    timeout: slow,
  }, async () => {
    await using collector = await OtlpReceiver.start();
    const seen = await (async () => {
      await using hub = await startHub(collector.endpoint, { headers: { 'x-key': 'the key' } }, { args: ['--code-mode'] });
      const agent = await openLegacyAgent(hub, () => hub.ownerToken);
      const code = 'from generated.mcp.meta import meta\nawait meta(secret="in the arguments")';
      const _meta = { traceparent: traceparent(trace), tracestate: 'rojo=1' };
      const { result } = await agent('tools/call', { name: 'execute_code', arguments: { code }, _meta });
      return String(JSON.stringify(result));
    })();
    const execute = collector.span('server', 'tools/call execute_code');
    const called = collector.span('server', 'tools/call meta');
    const sent = collector.span('client', 'tools/call meta');
    expect(execute).toMatchObject({ traceId: trace.id, parentId: trace.span, traceState: 'rojo=1', isError: false });
    expect(called).toMatchObject({ traceId: trace.id, parentId: execute.spanId });
    expect(sent).toMatchObject({ traceId: trace.id, parentId: called.spanId });
    expect(seen).toContain(`00-${trace.id}-${sent.spanId}-01`);
    expect(execute.attributes).toMatchObject({
      'mcp.method.name': 'tools/call',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'execute_code',
      'network.transport': 'tcp',
      'notebridge.door': 'http',
      'notebridge.outcome': 'ok',
    });
    expect(sent.attributes).toMatchObject({
      'notebridge.server': 'meta',
      'network.transport': 'pipe',
      'mcp.protocol.version': '2025-11-25',
    });
    expect(collector.bytes).not.toMatch(/in the arguments|generated|structuredContent/);
    expect(collector.headers.every((headers) => headers['x-key'] === 'the key')).toBe(true);
    const [duration] = collector.durations.filter(({ metric, attributes }) => metric.includes('client') && attributes['gen_ai.tool.name']);
    expect(duration).toMatchObject({ metric: 'mcp.client.operation.duration', unit: 's', count: 1 });
    expect(duration?.bounds).toEqual([0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]);
  });

  it('is taken from the headers of HTTP where the message has none, and its outcome is that of the audit', {
    tags: ['P-505'],
    timeout: slow,
  }, async () => {
    await using collector = await OtlpReceiver.start();
    await using hub = await startHub(collector.endpoint, { intervalMs: 100 });
    const token = hub.ownerToken;
    const headers = { traceparent: traceparent(other) };
    const call = async (tool: string): Promise<unknown> =>
      (await hub.request(`/api/v1/mcp/proxy/meta/tools/${tool}`, { token, headers, body: { arguments: {} } })).json();
    await call('fails');
    await call('refuses');
    const legacy = await openLegacyAgent(hub, () => token, 'raw', { traceparent: traceparent(ofLegacy) });
    expect(metaOf(await legacy('tools/call', { name: 'meta__meta' })).traceparent).toMatch(`00-${ofLegacy.id}-`);
    const both = await legacy('tools/call', { name: 'meta__meta', _meta: { traceparent: traceparent(other) } });
    expect(metaOf(both).traceparent).toMatch(`00-${other.id}-`);
    const agent = openModernAgent(hub, () => token);
    const { result } = await agent('tools/call', { name: 'meta__meta', _meta: { traceparent: traceparent(trace), kept: 'as it came' } });
    expect(result?.structuredContent).toMatchObject({ kept: 'as it came' });
    const unsampled = await agent('tools/call', { name: 'meta__meta', _meta: { traceparent: traceparent(trace, '00') } });
    expect(metaOf(unsampled).traceparent).toMatch(new RegExp(`^00-${trace.id}-[0-9a-f]{16}-00$`));
    const broken = await agent('tools/call', { name: 'meta__meta', _meta: { traceparent: '00-nonsense', tracestate: 'a=b' } });
    expect(metaOf(broken).traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(broken.result?.structuredContent).not.toHaveProperty('tracestate');
    await hub.stop();
    expect(collector.span('server', 'tools/call fails')).toMatchObject({ traceId: other.id, parentId: other.span, isError: true });
    expect(collector.span('server', 'tools/call fails').attributes).toMatchObject({ 'error.type': 'tool_error' });
    const refused = collector.spans.filter(({ attributes }) => attributes['gen_ai.tool.name'] === 'refuses');
    expect(refused.map(({ kind, attributes }) => [kind, attributes['error.type'], attributes['rpc.response.status_code']]).sort()).toEqual([
      ['client', '-32099', '-32099'],
      ['server', 'remote_error', undefined],
    ]);
    const linked = collector.spans.filter(({ links }) => links.length > 0);
    expect(linked.map(({ traceId, links }) => [traceId, links])).toEqual([[other.id, [ofLegacy.id]]]);
    expect(collector.spans.find(({ parentId }) => parentId === ofLegacy.span)).toMatchObject({ traceId: ofLegacy.id, kind: 'server' });
    const ofTrace = collector.spans.filter(({ traceId }) => traceId === trace.id);
    expect(ofTrace.map(({ kind, parentId }) => [kind, parentId === trace.span]).sort()).toEqual([
      ['client', false],
      ['server', true],
    ]);
  });

  it(
    'goes on from one hub to the next, over HTTP',
    async () => {
      await using collector = await OtlpReceiver.start();
      await using far = await startHub(collector.endpoint);
      const entry = { url: `${far.url}/mcp`, headers: { Authorization: `Bearer ${far.ownerToken}` } };
      await using near = await startHub(collector.endpoint, {}, { servers: { far: entry } });
      expect((await near.call('far', 'meta__meta', {}, near.ownerToken)).answer.success).toBe(true);
      await near.stop();
      await far.stop();
      const [first, out] = [collector.span('server', 'tools/call meta__meta'), collector.span('client', 'tools/call meta__meta')];
      const arrived = collector.span('server', 'tools/call meta');
      expect([out.parentId, arrived.parentId, collector.span('client', 'tools/call meta').parentId]).toEqual([
        first.spanId,
        out.spanId,
        arrived.spanId,
      ]);
      expect(new Set(collector.spans.map(({ traceId }) => traceId)).size).toBe(1);
      const place = { 'server.address': '127.0.0.1', 'server.port': far.port, 'network.transport': 'tcp', 'network.protocol.name': 'http' };
      expect(out.attributes).toMatchObject({ ...place, 'notebridge.server': 'far' });
    },
    slow,
  );

  it('is recorded for as many calls as the config says, and for each that its caller records', {
    tags: ['P-506'],
    timeout: slow,
  }, async () => {
    await using collector = await OtlpReceiver.start();
    await using hub = await startHub(collector.endpoint, { sampleRatio: 0 });
    const agent = openModernAgent(hub, () => hub.ownerToken);
    for (let count = 0; count < 5; count++) await agent('tools/call', { name: 'meta__meta' });
    await agent('tools/call', { name: 'meta__meta', _meta: { traceparent: traceparent(trace) } });
    await hub.stop();
    expect(collector.spans.map(({ traceId }) => traceId)).toEqual([trace.id, trace.id]);
    expect(collector.durations.find(({ metric }) => metric.includes('server'))).toMatchObject({ count: 6 });
  });

  it('is left as it is in what goes to servers when traces are off; made-up names make no label', {
    tags: ['P-506', 'P-493'],
    timeout: slow,
  }, async () => {
    await using collector = await OtlpReceiver.start();
    await using hub = await startHub(collector.endpoint, { traces: false });
    const agent = openModernAgent(hub, () => hub.ownerToken);
    const _meta = { traceparent: traceparent(trace), tracestate: 'a=b' };
    const { result } = await agent('tools/call', { name: 'meta__meta', _meta });
    expect(result?.structuredContent).toMatchObject(_meta);
    expect((await agent('tools/call', { name: 'meta__meta' })).result?.structuredContent).not.toHaveProperty('traceparent');
    for (let count = 0; count < 20; count++) await agent('tools/call', { name: `made_up_${count}` });
    for (let count = 0; count < 20; count++) await hub.call('meta', `made_up_${count}`, {}, hub.ownerToken);
    await hub.stop();
    expect(collector.spans).toEqual([]);
    expect(collector.bytes).not.toContain('made_up');
    const labels = collector.durations.map(({ metric, attributes, count }) => [
      metric.split('.')[1],
      attributes['gen_ai.tool.name'],
      count,
    ]);
    expect(labels).toEqual(
      expect.arrayContaining([
        ['server', 'meta', 2],
        ['client', 'meta', 2],
      ]),
    );
    expect(labels.filter(([, tool]) => tool === 'other').reduce((sum, [, , count]) => sum + Number(count), 0)).toBe(40);
  });
});

describe('a collector', () => {
  /** What it does with a request; undefined: nothing listens there. */
  const bad: Record<string, Parameters<typeof OtlpReceiver.start>[0]> = {
    'is down': undefined,
    'never answers': () => {},
    'answers 500': (response) => response.writeHead(500).end('{"broken": true}'),
    'asks to be asked again in an hour': (response) => response.writeHead(503, { 'retry-after': '3600' }).end(),
    'sends a byte now and then': (response) => setInterval(() => response.write('x'), 300).unref(),
    'hangs up': (response) => response.destroy(),
  };

  it(`a receiver that ${Object.keys(bad).join(', ')} costs no call, is told of once, and holds the end up for three seconds at most`, {
    tags: ['P-508'],
    timeout: slow,
  }, async () => {
    await Promise.all(Object.entries(bad).map(([how, answer]) => endure(how, answer)));
  });

  async function endure(how: string, answer: (typeof bad)[string]): Promise<void> {
    await using collector = await OtlpReceiver.start(answer);
    const endpoint = answer === undefined ? 'http://127.0.0.1:9' : collector.endpoint;
    await using hub = await startHub(endpoint, { intervalMs: 100 });
    for (let count = 0; count < 50; count++) expect((await hub.call('meta', 'meta', {}, hub.ownerToken)).answer.success, how).toBe(true);
    const warned = (): unknown[] => hub.log().flatMap(({ msg }) => /^(Metrics|Traces) to .* cannot be sent/.exec(String(msg))?.[1] ?? []);
    await hub.until(() => warned().length === 2);
    const stopped = performance.now();
    expect(await hub.stop(), how).toBe(0);
    expect(performance.now() - stopped, how).toBeLessThan(soonerThanNeverMs);
    expect(warned().sort(), how).toEqual(['Metrics', 'Traces']);
  }

  it('a receiver that comes back gets what is gathered from then on, and that is told once', {
    tags: ['P-508'],
    timeout: slow,
  }, async () => {
    let isBroken = true;
    await using collector = await OtlpReceiver.start((response) => response.writeHead(isBroken ? 500 : 200).end('\xff not protobuf'));
    await using hub = await startHub(collector.endpoint, { intervalMs: 100, metrics: false });
    await hub.call('meta', 'meta', {}, hub.ownerToken);
    await hub.logged('cannot be sent');
    isBroken = false;
    await hub.call('meta', 'fails', {}, hub.ownerToken);
    await hub.logged('sent again');
    expect(collector.span('server', 'tools/call fails').isError).toBe(true);
    expect(hub.log().filter(({ msg }) => /^Traces/.test(String(msg)))).toHaveLength(2);
  });
});

describe('more traces than a collector takes', () => {
  it('are left out whole, and that is told once, and at the end with their number', { tags: ['P-508'], timeout: slow }, async () => {
    const held: ServerResponse[] = [];
    let isHeld = true;
    await using collector = await OtlpReceiver.start((response) => (isHeld ? held.push(response) : response.end()));
    await using hub = await startHub(collector.endpoint, { intervalMs: 100, metrics: false });
    const agent = openModernAgent(hub, () => hub.ownerToken);
    /** Calls until one of them is recorded, or is not. A batch that is held frees its room after some seconds: a slow machine needs many. */
    const callUntil = async (flags: string): Promise<void> => {
      for (let round = 0; round < 3000; round++) {
        const replies = await Promise.all(Array.from({ length: 32 }, () => agent('tools/call', { name: 'meta__meta' })));
        if (replies.some((reply) => String(metaOf(reply).traceparent).endsWith(`-${flags}`))) return;
      }
      throw new Error(`No call had the flags ${flags}.`);
    };
    await callUntil('00');
    // A caller that records its own trace has decided: the flag stays, though nothing of it may arrive.
    const recorded = await agent('tools/call', { name: 'meta__meta', _meta: { traceparent: traceparent(trace) } });
    expect(metaOf(recorded).traceparent).toMatch(new RegExp(`^00-${trace.id}-[0-9a-f]{16}-01$`));
    isHeld = false;
    for (const response of held) response.end();
    await callUntil('01');
    expect(await hub.stop()).toBe(0);
    const told = hub.log().flatMap(({ msg }) => /More traces than|left out: they did not fit/.exec(String(msg))?.[0] ?? []);
    expect(told).toEqual(['More traces than', 'left out: they did not fit']);
    expect(collector.spans.length).toBeGreaterThan(2048);
  });
});

describe('what it needs', () => {
  const refuses = `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module';
    registerHooks({ resolve: (name, context, next) => next(name.startsWith('@opentelemetry/') ? '@opentelemetry/is-not-there' : name, context) });
  `)}`;
  const without = { NODE_OPTIONS: `--import=${refuses}` };

  /** What the program says when it does not start. */
  async function refusal(more: { node: string; env?: Record<string, string> }): Promise<string> {
    const folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
    const file = join(folder, 'mcp.json');
    writeFileSync(file, JSON.stringify({ notebridge: { telemetry: { otlp: { endpoint: 'http://127.0.0.1:9' } } } }));
    const { ending, stderr } = await runProgram(['serve', '--port', '0', '--notebook', 'none', '--config', file], more);
    rmSync(folder, { recursive: true });
    expect(ending).toBe(2);
    return stderr;
  }

  it('is named where it is missing, with the command that installs it; without the key nothing is missing', {
    tags: ['P-509'],
    timeout: slow,
  }, async () => {
    expect(await refusal({ node, env: without })).toMatch(
      /mcp\.json: "notebridge\.telemetry\.otlp" needs packages of OpenTelemetry: Cannot find package '[^']+'\. .*npm install @opentelemetry\/api@1/,
    );
    await using hub = await ServedHub.start({ servers, node, env: without, args: ['--notebook', 'none'] });
    expect((await hub.call('meta', 'meta', {}, hub.ownerToken)).answer.success).toBe(true);
  });

  it.skipIf(isNewEnough)('is a newer Node, where this one is too old', { tags: ['P-509'], timeout: slow }, async () => {
    expect(await refusal({ node: process.execPath })).toMatch(
      /mcp\.json: "notebridge\.telemetry\.otlp" needs Node 22\.15 or newer, and this is 2\d\.\d+\.\d+\. Run/,
    );
  });
});
