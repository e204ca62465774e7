import type { ClusterParts } from '@notebridge/cluster/cluster-parts';
import { toHubContext } from '@notebridge/cluster/remote-events';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { pagesOfHub, parsePageIds, yieldMethod } from './page-records.js';

/** What is asked for within this time is asked together: after a broken tunnel thousands of pages come at once. Milliseconds. */
const gatherMs = 5;
const maxPages = 250;

/** `failed`: the hub gave no answer, and may be at its end. */
export type YieldAnswer = 'yielded' | 'busy' | 'failed';

interface WaitingPage {
  id: string;
  answer: (answer: YieldAnswer) => void;
}

/** Asks other hubs to let go of pages that have come here. */
export class PageYields {
  readonly #parts: Pick<ClusterParts, 'calls' | 'runtime'>;
  readonly #waiting = new Map<string, WaitingPage[]>();
  readonly #running = new Set<Cancellation>();

  constructor(parts: Pick<ClusterParts, 'calls' | 'runtime'>) {
    this.#parts = parts;
  }

  /** Never rejects. */
  ask(hub: string, id: string, timeoutMs: number): Promise<YieldAnswer> {
    return new Promise((answer) => {
      const waiting = this.#waiting.get(hub);
      if (waiting !== undefined) {
        waiting.push({ id, answer });
        if (waiting.length >= maxPages) this.#send(hub, timeoutMs);
        return;
      }
      const pages = [{ id, answer }];
      this.#waiting.set(hub, pages);
      this.#parts.runtime.after(gatherMs, () => this.#waiting.get(hub) === pages && this.#send(hub, timeoutMs));
    });
  }

  close(): void {
    for (const cancellation of this.#running) cancellation.cancel('this hub is closed');
  }

  #send(hub: string, timeoutMs: number): void {
    const pages = this.#waiting.get(hub) ?? [];
    this.#waiting.delete(hub);
    const { calls, runtime } = this.#parts;
    const cancellation = new Cancellation();
    this.#running.add(cancellation);
    const callOff = runtime.after(timeoutMs, () => cancellation.cancel('it takes too long'));
    const context = toHubContext(yieldMethod, { params: { pages: pages.map(({ id }) => id) }, cancellation });
    calls
      .call({ hub, resource: pagesOfHub, epoch: 0 }, yieldMethod, context.message, context)
      .then(
        (answered) => {
          const yielded = new Set(parsePageIds(answered.yielded));
          for (const { id, answer } of pages) answer(yielded.has(id) ? 'yielded' : 'busy');
        },
        () => {
          for (const { answer } of pages) answer('failed');
        },
      )
      .finally(() => {
        callOff();
        this.#running.delete(cancellation);
      });
  }
}
