import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import {
  type Attributes,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { BegunCall } from '../core/call-observer.js';
import type { OutgoingCall } from '../core/telemetry.js';
import { codeModeServer } from '../core/tool-address.js';
import type { BoundedNames } from './bounded-names.js';
import { type CallSubject, clientAttributes, isGood, serverAttributes } from './conventions.js';
import { type CarriedTrace, parseTraceContext, withTraceContext } from './trace-context.js';

/** Code may run on, and call, after the call that asked for it was answered: so many of these are remembered. */
const maxEnded = 1000;

/** Ends a span. */
export type EndSpan = (outcome: string, statusCode?: string) => void;

/**
 * One span for each call that comes in, and one for each request that goes out to a server in its course. What was sent and answered is in
 * no span.
 */
export class CallSpans {
  readonly #tracer: Tracer;
  readonly #names: BoundedNames;
  /** By the id of the call. */
  readonly #running = new Map<string, Span>();
  /** Of executions of code, the oldest first. */
  readonly #ended = new Map<string, SpanContext>();

  constructor(tracer: Tracer, names: BoundedNames) {
    this.#tracer = tracer;
    this.#names = names;
  }

  /** `subject`: of the call. What is not known of it yet may be filled in while it runs. */
  begin(begun: BegunCall, subject: CallSubject): EndSpan {
    const { context, address } = begun;
    const { callId, parent, message, trace: headers } = context;
    const carried = carriedIn(message);
    const ofHeaders = headers && parseTraceContext(headers);
    const above = (parent && this.#contextOf(parent.callId)) ?? (carried && parseTraceContext(carried)) ?? ofHeaders;
    const span = this.#start(subject, { kind: SpanKind.SERVER, links: toLinks(ofHeaders, above) }, above);
    this.#running.set(callId, span);
    return (outcome) => {
      if (this.#running.get(callId) === span) this.#running.delete(callId);
      if (address?.server === codeModeServer) this.#remember(callId, span.spanContext());
      this.#end(span, subject, outcome, () => serverAttributes(begun, subject, outcome));
    };
  }

  /** Undefined: the call that it belongs to has no span. */
  beginOutgoing(call: OutgoingCall, subject: CallSubject): { params: JsonObject; end: EndSpan } | undefined {
    const above = this.#running.get(call.callId)?.spanContext();
    if (above === undefined) return undefined;
    const span = this.#start(subject, { kind: SpanKind.CLIENT }, above);
    const end: EndSpan = (outcome, statusCode) =>
      this.#end(span, subject, outcome, () => clientAttributes(call, subject, { outcome, statusCode }));
    return { params: withTraceContext(call.params, span.spanContext()), end };
  }

  #start({ method }: CallSubject, options: Parameters<Tracer['startSpan']>[1], above: SpanContext | undefined): Span {
    const parent = above === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, above);
    return this.#tracer.startSpan(method, options, parent);
  }

  /** Named at its end: by then it is known whether there is such a tool. So are its attributes; one that is not recorded needs none. */
  #end(span: Span, subject: CallSubject, outcome: string, toAttributes: () => Attributes): void {
    if (!span.isRecording()) return;
    const { method, tool } = this.#names.bound(subject, outcome);
    if (tool !== undefined) span.updateName(`${method} ${tool}`);
    span.setAttributes(toAttributes());
    if (!isGood(outcome)) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  }

  #contextOf(callId: string): SpanContext | undefined {
    return this.#running.get(callId)?.spanContext() ?? this.#ended.get(callId);
  }

  #remember(callId: string, context: SpanContext): void {
    this.#ended.set(callId, context);
    if (this.#ended.size <= maxEnded) return;
    const [oldest = ''] = this.#ended.keys();
    this.#ended.delete(oldest);
  }
}

function carriedIn({ _meta }: JsonObject): CarriedTrace | undefined {
  return isJsonObject(_meta) ? _meta : undefined;
}

/** The trace of the connection, where the call itself belongs to another. */
function toLinks(ofHeaders: SpanContext | undefined, above: SpanContext | undefined): Link[] {
  return ofHeaders === undefined || ofHeaders === above ? [] : [{ context: ofHeaders }];
}
