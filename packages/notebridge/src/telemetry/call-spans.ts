import type { BegunCall } from '@notebridge/protocol/core/call-observer';
import { codeModeServer } from '@notebridge/protocol/core/tool-address';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { keepLatest } from '@notebridge/protocol/util/keep-latest';
import {
  type Attributes,
  type HrTime,
  type Link,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
} from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { IdGenerator, ReadableSpan, Sampler } from '@opentelemetry/sdk-trace';
import type { BoundedNames } from './bounded-names.js';
import { type CallSubject, clientAttributes, isGood, serverAttributes } from './conventions.js';
import type { OutgoingCall } from './outgoing-calls.js';
import { type CarriedTrace, parseTraceContext, withTraceContext } from './trace-context.js';

/** Code may run on, and call, after the call that asked for it was answered: so many of these are remembered. */
const maxEnded = 1000;

const noLinks: readonly Link[] = [];

/** Ends a span. */
export type EndSpan = (outcome: string, statusCode?: string) => void;

/**
 * One span for each call that comes in, and one for each request that goes out to a server in its course. What was sent and answered is in
 * no span.
 */
export class CallSpans {
  readonly #making: SpanMaking;
  readonly #names: BoundedNames;
  /** By the id of the call. */
  readonly #running = new Map<string, CallSpan>();
  /** Of executions of code, the oldest first. */
  readonly #ended = new Map<string, SpanContext>();

  constructor(making: SpanMaking, names: BoundedNames) {
    this.#making = making;
    this.#names = names;
  }

  /** `subject`: of the call. What is not known of it yet may be filled in while it runs. */
  begin(begun: BegunCall, subject: CallSubject): EndSpan {
    const { context, address } = begun;
    const { callId, parent, message, trace: headers } = context;
    const carried = carriedIn(message);
    const ofHeaders = headers && parseTraceContext(headers);
    const above = (parent && this.#contextOf(parent.callId)) ?? (carried && parseTraceContext(carried)) ?? ofHeaders;
    const span = new CallSpan(this.#making, { name: subject.method, kind: SpanKind.SERVER, above, links: toLinks(ofHeaders, above) });
    this.#running.set(callId, span);
    return (outcome) => {
      if (this.#running.get(callId) === span) this.#running.delete(callId);
      if (address?.server === codeModeServer) keepLatest(this.#ended, [callId, span.context], maxEnded);
      this.#end(span, subject, outcome, () => serverAttributes(begun, subject, outcome));
    };
  }

  /** Undefined: the call that it belongs to has no span. */
  beginOutgoing(call: OutgoingCall, subject: CallSubject): { params: JsonObject; end: EndSpan } | undefined {
    const above = this.#running.get(call.callId)?.context;
    if (above === undefined) return undefined;
    const span = new CallSpan(this.#making, { name: subject.method, kind: SpanKind.CLIENT, above, links: noLinks });
    const end: EndSpan = (outcome, statusCode) =>
      this.#end(span, subject, outcome, () => clientAttributes(call, subject, { outcome, statusCode }));
    return { params: withTraceContext(call.params, span.context), end };
  }

  /** Named at its end: by then it is known whether there is such a tool. So are its attributes; one that is not recorded needs none. */
  #end(span: CallSpan, subject: CallSubject, outcome: string, toAttributes: () => Attributes): void {
    if (!span.isRecorded || span.ended) return;
    const { method, tool } = this.#names.bound(subject, outcome);
    const name = tool === undefined ? method : `${method} ${tool}`;
    span.end({ name, attributes: toAttributes(), isGood: isGood(outcome) });
  }

  #contextOf(callId: string): SpanContext | undefined {
    return this.#running.get(callId)?.context ?? this.#ended.get(callId);
  }
}

function carriedIn({ _meta }: JsonObject): CarriedTrace | undefined {
  return isJsonObject(_meta) ? _meta : undefined;
}

/** The trace of the connection, where the call itself belongs to another. */
function toLinks(ofHeaders: SpanContext | undefined, above: SpanContext | undefined): readonly Link[] {
  return ofHeaders === undefined || ofHeaders === above ? noLinks : [{ context: ofHeaders }];
}

/** What all spans of the hub have in common, and who takes those that have ended. */
export interface SpanMaking {
  ids: IdGenerator;
  /** Asked for each trace that begins here. In one that a caller began, the caller has decided. */
  sampler: Sampler;
  resource: Resource;
  instrumentationScope: ReadableSpan['instrumentationScope'];
  onEnd(span: ReadableSpan): void;
}

/** How a span begins. */
interface SpanStart {
  name: string;
  kind: SpanKind;
  above: SpanContext | undefined;
  links: readonly Link[];
}

const none: never[] = [];
const good = { code: SpanStatusCode.UNSET };
const failed = { code: SpanStatusCode.ERROR };

/**
 * A span as exporters read it. That of OpenTelemetry's tracer is made for whatever a program may do with it, and checks and copies each
 * attribute, which is felt where each of thousands of calls a second has two spans.
 */
class CallSpan implements ReadableSpan {
  name: string;
  readonly kind: SpanKind;
  readonly context: SpanContext;
  /** Undefined where the trace begins. */
  readonly parentSpanContext: SpanContext;
  readonly links: ReadableSpan['links'];
  readonly resource: Resource;
  readonly instrumentationScope: ReadableSpan['instrumentationScope'];
  readonly events: ReadableSpan['events'] = none;
  readonly droppedAttributesCount = 0;
  readonly droppedEventsCount = 0;
  readonly droppedLinksCount = 0;
  readonly isRecorded: boolean;
  attributes: Attributes = {};
  status: ReadableSpan['status'] = good;
  ended = false;
  readonly #onEnd: SpanMaking['onEnd'];
  readonly #startMs = Date.now();
  readonly #startedAt = performance.now();
  #durationMs = 0;

  constructor(making: SpanMaking, { name, kind, above, links }: SpanStart) {
    const { ids, sampler, resource, instrumentationScope } = making;
    const traceId = above === undefined ? ids.generateTraceId() : above.traceId;
    this.isRecorded =
      above === undefined
        ? sampler.shouldSample(ROOT_CONTEXT, traceId, name, kind, {}, [...links]).decision === recordAndSample
        : (above.traceFlags & TraceFlags.SAMPLED) !== 0;
    const traceFlags = this.isRecorded ? TraceFlags.SAMPLED : TraceFlags.NONE;
    this.context = { traceId, spanId: ids.generateSpanId(), traceFlags, ...(above?.traceState && { traceState: above.traceState }) };
    this.#onEnd = making.onEnd;
    this.resource = resource;
    this.instrumentationScope = instrumentationScope;
    this.name = name;
    this.kind = kind;
    this.parentSpanContext = above as SpanContext;
    this.links = links as ReadableSpan['links'];
  }

  /** Ends it and hands it on. Only if it is recorded, and once. */
  end({ name, attributes, isGood }: { name: string; attributes: Attributes; isGood: boolean }): void {
    this.#durationMs = performance.now() - this.#startedAt;
    this.name = name;
    this.attributes = attributes;
    if (!isGood) this.status = failed;
    this.ended = true;
    this.#onEnd(this);
  }

  spanContext(): SpanContext {
    return this.context;
  }

  get startTime(): HrTime {
    return toHrTime(this.#startMs);
  }

  get endTime(): HrTime {
    return toHrTime(this.#startMs + this.#durationMs);
  }

  get duration(): HrTime {
    return toHrTime(this.#durationMs);
  }
}

/** `SamplingDecision.RECORD_AND_SAMPLED` of the SDK. */
const recordAndSample = 2;

/** Seconds, and nanoseconds of the next. */
function toHrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.floor((ms - seconds * 1000) * 1e6)];
}
