import type { Meter } from '@opentelemetry/api';
import { BoundedNames } from './bounded-names.js';
import { type CallSubject, durationAttributes, durationBoundaries } from './conventions.js';

type RecordDuration = (subject: CallSubject, outcome: string, durationMs: number) => void;

/** Records how long calls took that came in, and requests that went out. */
export interface CallDurations {
  server: RecordDuration;
  client: RecordDuration;
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
