import type { BegunCall, CallObserver, EndCall } from '@notebridge/protocol/core/call-observer';
import { codeOf, RemoteError } from '@notebridge/protocol/core/errors';
import type { JsonObject } from '@notebridge/protocol/json';
import type { Meter } from '@opentelemetry/api';
import { BoundedNames } from './bounded-names.js';
import type { CallSpans } from './call-spans.js';
import { type CallSubject, durationAttributes, durationBoundaries, subjectOf, subjectOfOutgoing, toKnownOutcome } from './conventions.js';
import type { FollowCall } from './outgoing-calls.js';

type RecordDuration = (subject: CallSubject, outcome: string, durationMs: number) => void;

/** Records how long calls took that came in, and requests that went out. */
export interface CallDurations {
  server: RecordDuration;
  client: RecordDuration;
}

export interface CallTelemetryOptions {
  /** Undefined: no traces. Then what goes to servers is left as it is. */
  spans: CallSpans | undefined;
  /** Undefined: no metrics. */
  durations: CallDurations | undefined;
}

/** What is learnt of calls that come in and of requests that go out, as spans and durations. */
export class CallTelemetry implements CallObserver {
  readonly isOn = true;
  readonly #options: CallTelemetryOptions;
  /** By the id of the call. What its tool is called at the server may be known only when it is sent there. */
  readonly #unnamed = new Map<string, CallSubject>();

  constructor(options: CallTelemetryOptions) {
    this.#options = options;
  }

  begin(begun: BegunCall): EndCall {
    const { spans, durations } = this.#options;
    const startedAt = performance.now();
    const subject = subjectOf(begun);
    const { callId } = begun.context;
    if (subject.tool === undefined && subject.server !== undefined) this.#unnamed.set(callId, subject);
    const endSpan = spans?.begin(begun, subject);
    return (outcome) => {
      const known = toKnownOutcome(outcome);
      if (this.#unnamed.get(callId) === subject) this.#unnamed.delete(callId);
      endSpan?.(known);
      durations?.server(subject, known, performance.now() - startedAt);
    };
  }

  readonly follow: FollowCall = (call) => {
    const { spans, durations } = this.#options;
    const subject = subjectOfOutgoing(call);
    const unnamed = this.#unnamed.get(call.callId);
    if (unnamed !== undefined && unnamed.server === subject.server) unnamed.tool = subject.tool;
    const span = spans?.beginOutgoing(call, subject);
    if (span === undefined && durations === undefined) return undefined;
    const startedAt = performance.now();
    const end = (outcome: string, statusCode?: string): void => {
      span?.end(outcome, statusCode);
      durations?.client(subject, outcome, performance.now() - startedAt);
    };
    return {
      params: span?.params ?? call.params,
      until: (answer) =>
        answer.then(
          (result) => {
            end(outcomeOf(result));
            return result;
          },
          (error: unknown) => {
            end(...failureOf(error));
            throw error;
          },
        ),
    };
  };
}

/** Two histograms with few labels. */
export function createDurations(meter: Meter): CallDurations {
  const create = (name: string, description: string): RecordDuration => {
    const histogram = meter.createHistogram(name, { unit: 's', description, advice: { explicitBucketBoundaries: durationBoundaries } });
    const names = new BoundedNames();
    return (subject, outcome, durationMs) =>
      histogram.record(durationMs / 1000, durationAttributes(names.bound(subject, outcome, outcome), outcome));
  };
  return {
    server: create('mcp.server.operation.duration', 'Calls of agents and code, from their arrival until they are answered.'),
    client: create('mcp.client.operation.duration', 'Requests to servers, from when they are sent until they are answered.'),
  };
}

function outcomeOf({ isError }: JsonObject): string {
  return isError === true ? 'tool_error' : 'ok';
}

/** The outcome, and the code by which the server refused. */
function failureOf(error: unknown): [outcome: string, statusCode?: string] {
  if (error instanceof RemoteError) return ['remote_error', String(error.raw.code).slice(0, 32)];
  return [codeOf(error) ?? 'internal'];
}
