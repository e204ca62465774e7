// @module-tag P-504

import { describe, expect, it } from 'vitest';
import { parseTraceContext, withTraceContext } from './trace-context.js';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

describe('parseTraceContext', () => {
  it('reads what W3C Trace Context has, also of versions to come', () => {
    expect(parseTraceContext({ traceparent: `00-${traceId}-${spanId}-01` })).toEqual({ traceId, spanId, traceFlags: 1, isRemote: true });
    expect(parseTraceContext({ traceparent: `cc-${traceId}-${spanId}-02-what-comes` })).toMatchObject({ traceId, traceFlags: 0 });
    expect(parseTraceContext({ traceparent: `00-${traceId}-${spanId}-01`, tracestate: 'a=1,b=2' })?.traceState?.get('b')).toBe('2');
  });

  it.each([
    undefined,
    null,
    17,
    '',
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01-more`,
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `cc-${traceId}-${spanId}-01-${'x'.repeat(1_000_000)}`,
  ])('begins a new trace for %.60s', { tags: ['P-505'] }, (traceparent) => {
    expect(parseTraceContext({ traceparent, tracestate: 'a=1' })).toBeUndefined();
  });

  it.each([7, '', 'x'.repeat(513), '\u0000'])('drops a state that is none', (tracestate) => {
    const context = parseTraceContext({ traceparent: `00-${traceId}-${spanId}-01`, tracestate });
    expect(context).toMatchObject({ traceId, spanId });
    expect(context?.traceState?.serialize() ?? '').toBe('');
  });
});

describe('withTraceContext', () => {
  it('takes the place of what was there, and changes nothing else', { tags: ['P-505'] }, () => {
    const _meta = { traceparent: 'theirs', tracestate: 'a=1', baggage: 'b=2', progressToken: 7 };
    const params = Object.freeze({ name: 'tool', _meta: Object.freeze(_meta) });
    expect(withTraceContext(params, { traceId, spanId, traceFlags: 1 })).toEqual({
      name: 'tool',
      _meta: { traceparent: `00-${traceId}-${spanId}-01`, baggage: 'b=2', progressToken: 7 },
    });
    expect(withTraceContext({ _meta: 'none' }, { traceId, spanId, traceFlags: 0 })).toEqual({
      _meta: { traceparent: `00-${traceId}-${spanId}-00` },
    });
  });
});
