import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { createTraceState, type SpanContext, TraceFlags } from '@opentelemetry/api';

const traceparentPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** W3C asks for at least this much to be passed on; what is longer is dropped, as the standard allows. */
const maxTracestate = 512;

/** Where a caller says which trace its call belongs to. */
export interface CarriedTrace {
  readonly traceparent?: unknown;
  readonly tracestate?: unknown;
}

/** The span of the caller (W3C Trace Context, level 1). Undefined if there is none, or it is malformed: then the call begins a trace. */
export function parseTraceContext({ traceparent, tracestate }: CarriedTrace): SpanContext | undefined {
  if (typeof traceparent !== 'string' || traceparent.length > 256) return undefined;
  const [, version, traceId, spanId, flags, more] = traceparentPattern.exec(traceparent.trim()) ?? [];
  if (version === undefined || traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  // Version ff is none; only versions to come may have more parts.
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  const hasState = typeof tracestate === 'string' && tracestate !== '' && tracestate.length <= maxTracestate;
  return { traceId, spanId, traceFlags, isRemote: true, ...(hasState && { traceState: createTraceState(tracestate) }) };
}

/** The params with the span in `_meta`, in place of one that was there (SEP-414: the keys have no prefix). */
export function withTraceContext(params: JsonObject, { traceId, spanId, traceFlags, traceState }: SpanContext): JsonObject {
  const { tracestate: _, ...meta } = isJsonObject(params._meta) ? params._meta : {};
  const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  const tracestate = traceState?.serialize();
  return { ...params, _meta: { ...meta, traceparent, ...(tracestate && { tracestate }) } };
}
