import type { JsonObject } from '@notebridge/protocol/json';
import { expect, it } from 'vitest';
import { createContext } from '../../test/support/create-context.js';
import { BoundedNames } from './bounded-names.js';
import type { SpanMaking } from './call-spans.js';
import { CallSpans } from './call-spans.js';
import { CallTelemetry } from './call-telemetry.js';

const idOf = (digit: string): string => digit.repeat(32);
const traceparent = (digit: string, flags = '01'): string => `00-${idOf(digit)}-${digit.repeat(16)}-${flags}`;

/** Follows a call that came with these. `sent`: the `_meta` that goes to its server; `spans`: how many have ended. */
async function follow({ message = {}, header, samples = true }: { message?: JsonObject; header?: string; samples?: boolean }) {
  const ended: unknown[] = [];
  const sampler = { shouldSample: () => ({ decision: samples ? 2 : 0 }) };
  const ids = { generateTraceId: () => idOf('9'), generateSpanId: () => '7'.repeat(16) };
  const spans = new CallSpans({ ids, sampler, onEnd: (span) => ended.push(span) } as Partial<SpanMaking> as SpanMaking, new BoundedNames());
  const calls = new CallTelemetry({ spans, durations: undefined });
  const trace = header === undefined ? {} : { trace: { traceparent: header, tracestate: undefined } };
  const context = createContext('tools/call', { name: 't', ...message }, trace);
  const end = calls.begin({ context, address: { server: 's', tool: 't' }, args: {}, label: undefined });
  const outgoing = {
    callId: context.callId,
    server: 's',
    method: 'tools/call',
    params: context.message,
    url: undefined,
    protocolVersion: '2026-07-28',
  };
  const followed = calls.follow(outgoing) ?? expect.fail();
  await followed.until(Promise.resolve({}));
  end('ok', {});
  const { _meta } = followed.params as { _meta: JsonObject };
  return { sent: _meta, spans: ended.length };
}

it('the trace of a message counts, else that of its HTTP request, else a new one', { tags: ['P-505'] }, async () => {
  const kept = { kept: 'as it came', progressToken: 7 };
  const sentOf = async (own: JsonObject, header?: string) =>
    (await follow({ message: { _meta: { ...kept, ...own } }, ...(header && { header }) })).sent;
  expect(await sentOf({ traceparent: traceparent('1') }, traceparent('2'))).toEqual({
    ...kept,
    traceparent: `00-${idOf('1')}-${'7'.repeat(16)}-01`,
  });
  expect(await sentOf({}, traceparent('2'))).toEqual({ ...kept, traceparent: `00-${idOf('2')}-${'7'.repeat(16)}-01` });
  expect(await sentOf({ traceparent: '00-nonsense', tracestate: 'a=b' })).toEqual({
    ...kept,
    traceparent: `00-${idOf('9')}-${'7'.repeat(16)}-01`,
  });
});

it('the sampler decides for traces that begin here, the caller for its own; without traces nothing is touched', {
  tags: ['P-506'],
}, async () => {
  const own = (flags: string) => ({ _meta: { traceparent: traceparent('1', flags) } });
  expect(await follow({ samples: false })).toMatchObject({ spans: 0, sent: { traceparent: expect.stringMatching(/-00$/) } });
  expect(await follow({ samples: true })).toMatchObject({ spans: 2, sent: { traceparent: expect.stringMatching(/-01$/) } });
  expect(await follow({ samples: false, message: own('01') })).toMatchObject({
    spans: 2,
    sent: { traceparent: expect.stringMatching(/-01$/) },
  });
  expect(await follow({ samples: true, message: own('00') })).toMatchObject({
    spans: 0,
    sent: { traceparent: expect.stringMatching(/-00$/) },
  });
  const off = new CallTelemetry({ spans: undefined, durations: undefined });
  expect(
    off.follow({ callId: 'x', server: 's', method: 'tools/call', params: {}, url: undefined, protocolVersion: '2026-07-28' }),
  ).toBeUndefined();
});
