// @module-tag deep
// @module-tag P-504

import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { newerNode } from '../../../../scripts/newer-node.mjs';
import { otelCollector } from '../../../../scripts/otel-collector.mjs';
import { openLegacyAgent } from '../support/http-agent.js';
import { OtelCollector } from '../support/otel-collector.js';
import { ServedHub } from '../support/served-hub.js';

/** `npm test -- collector` asks for it. */
const isAsked = process.env.NOTEBRIDGE_COLLECTOR === 'build';
// It is built before a test begins, and its clock runs.
const program = isAsked ? await otelCollector() : undefined;
const why = isAsked ? 'needs Go, to build a collector' : 'builds an OpenTelemetry collector, which takes minutes: npm test -- collector';
const fixture = fileURLToPath(new URL('../fixtures/servers/tells-meta.mjs', import.meta.url));
const trace = { id: '4bf92f3577b34da6a3ce929d0e0e4736', span: '00f067aa0ba902b7' };

describe('a real OpenTelemetry collector', () => {
  it('gets one trace, from the agent through code mode to the server', { timeout: 300_000 }, async ({ skip }) => {
    if (program === undefined) return skip(why);
    const node = await newerNode();
    const beganMs = Date.now();
    await using collector = await OtelCollector.start(program);
    await (async () => {
      await using hub = await ServedHub.start({
        servers: { meta: { command: process.execPath, args: [fixture] } },
        node,
        args: ['--notebook', 'none', '--code-mode'],
        notebridge: { telemetry: { otlp: { endpoint: collector.endpoint, metrics: false } } },
      });
      const agent = await openLegacyAgent(hub, () => hub.ownerToken);
      const code = 'from generated.mcp.meta import meta\nawait meta(secret="in the arguments")';
      const _meta = { traceparent: `00-${trace.id}-${trace.span}-01`, tracestate: 'rojo=1' };
      await agent('tools/call', { name: 'execute_code', arguments: { code }, _meta });
      expect(hub.log().filter(({ msg }) => /cannot be sent/.test(String(msg)))).toEqual([]);
    })();
    const spans = await collector.stop();
    const one = (kind: string, name: string) => {
      const found = spans.filter((span) => span.kind === kind && span.name === name);
      expect(found, `${kind} ${name} of ${JSON.stringify(spans)}`).toHaveLength(1);
      return found[0];
    };
    const execute = one('Server', 'tools/call execute_code');
    const called = one('Server', 'tools/call meta');
    const sent = one('Client', 'tools/call meta');
    expect(execute).toMatchObject({ traceId: trace.id, parentId: trace.span, traceState: 'rojo=1' });
    expect(called).toMatchObject({ traceId: trace.id, parentId: execute?.spanId });
    expect(sent).toMatchObject({ traceId: trace.id, parentId: called?.spanId });
    expect(execute?.attributes).toMatchObject({ 'gen_ai.tool.name': 'execute_code', 'notebridge.outcome': 'ok' });
    expect(sent?.attributes).toMatchObject({ 'notebridge.server': 'meta', 'network.transport': 'pipe' });
    const times = [beganMs, execute, called, sent].map((each) => (typeof each === 'object' ? each.startMs : Number(each)));
    times.push(...[sent, called, execute].map((each) => Number(each?.endMs)), Date.now());
    // A beginning is a whole millisecond of the clock, an end is reckoned from it.
    for (const [index, ms] of times.entries()) expect(ms, String(times)).toBeGreaterThanOrEqual((times[index - 1] ?? 0) - 2);
    expect(collector.text).toMatch(/service\.name: Str\(notebridge\)/);
    expect(collector.text).not.toMatch(/in the arguments|generated|structuredContent/);
  });
});
