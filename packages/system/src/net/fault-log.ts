import type { JsonObject } from '@notebridge/protocol/json';
import type { Logger } from '@notebridge/protocol/util/logger';

/**
 * Reports faults that an outsider can repeat at will: the first of its kind, then at each doubling, so that a flood fills neither
 * disk nor terminal.
 */
export class FaultLog {
  readonly #logger: Logger;
  readonly #counts = new Map<string, number>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Counts a fault. `message` is its kind, so it is a text of ours; what differs goes into the fields. */
  report(message: string, fields: JsonObject = {}): void {
    const count = (this.#counts.get(message) ?? 0) + 1;
    this.#counts.set(message, count);
    if (Number.isInteger(Math.log2(count))) this.#logger.warn(message, count === 1 ? fields : { ...fields, times: count });
  }
}
