import type { Attributes, Histogram, Meter } from '@opentelemetry/api';
import { BoundedNames } from './bounded-names.js';
import { type CallSubject, durationAttributes, durationBoundaries } from './conventions.js';

/** How long calls took, as histograms with few labels. */
export class CallDurations {
  readonly #server: Recorded;
  readonly #client: Recorded;

  constructor(meter: Meter) {
    const create = (name: string, description: string): Recorded => ({
      histogram: meter.createHistogram(name, { unit: 's', description, advice: { explicitBucketBoundaries: durationBoundaries } }),
      names: new BoundedNames(),
    });
    this.#server = create('mcp.server.operation.duration', 'Calls of agents and code, from their arrival until they are answered.');
    this.#client = create('mcp.client.operation.duration', 'Requests to servers, from when they are sent until they are answered.');
  }

  recordServer(subject: CallSubject, outcome: string, durationMs: number): void {
    record(this.#server, subject, { outcome, durationMs });
  }

  recordClient(subject: CallSubject, outcome: string, durationMs: number): void {
    record(this.#client, subject, { outcome, durationMs });
  }
}

interface Recorded {
  histogram: Histogram<Attributes>;
  names: BoundedNames;
}

function record(
  { histogram, names }: Recorded,
  subject: CallSubject,
  { outcome, durationMs }: { outcome: string; durationMs: number },
): void {
  const bound = names.bound(subject, outcome, outcome);
  histogram.record(durationMs / 1000, durationAttributes(bound, outcome));
}
