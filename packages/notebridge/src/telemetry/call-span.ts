import {
  type Attributes,
  type HrTime,
  type Link,
  ROOT_CONTEXT,
  type SpanContext,
  type SpanKind,
  SpanStatusCode,
  TraceFlags,
} from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { IdGenerator, ReadableSpan, Sampler } from '@opentelemetry/sdk-trace';

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
export interface SpanStart {
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
export class CallSpan implements ReadableSpan {
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
