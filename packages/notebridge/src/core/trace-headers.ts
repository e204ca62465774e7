/** The trace of a caller, as W3C Trace Context has it in the headers of an HTTP request. Not checked yet. */
export interface TraceHeaders {
  readonly traceparent: unknown;
  readonly tracestate: unknown;
}

/** Undefined: the request names no trace. */
export function toTraceHeaders({ traceparent, tracestate }: Readonly<Partial<Record<string, unknown>>>): TraceHeaders | undefined {
  return traceparent === undefined ? undefined : { traceparent, tracestate };
}
