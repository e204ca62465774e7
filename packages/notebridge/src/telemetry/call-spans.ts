import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { keepLatest } from '@notebridge/kit/keep-latest';
import { type Attributes, type Link, type SpanContext, SpanKind } from '@opentelemetry/api';
import type { BegunCall } from '../core/call-observer.js';
import { codeModeServer } from '../core/tool-address.js';
import type { BoundedNames } from './bounded-names.js';
import { CallSpan, type SpanMaking } from './call-span.js';
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
