import type { JsonObject } from '@notebridge/protocol/json';
import type { CodeAsker, ServerQuestion, ServerQuestionOptions } from '../kernel/kernel-tools.js';

/** The same, until the signal: what is open ends then, and nothing is asked any more. */
export function askerUntil(asker: CodeAsker, ended: AbortSignal): CodeAsker {
  return {
    get can() {
      return asker.can;
    },
    ask: (question, { signal, ...options }) => asker.ask(question, { ...options, signal: AbortSignal.any([signal, ended]) }),
  };
}

/** Of one call of an agent: it can be asked while the call runs, and the time for that is not the run's. */
export class CallAsker implements CodeAsker {
  readonly can: JsonObject;
  readonly #asker: CodeAsker;
  readonly #end = new AbortController();
  readonly #open = new Set<Promise<unknown>>();
  #openSince = 0;
  #spentMs = 0;

  constructor(asker: CodeAsker) {
    this.can = asker.can;
    this.#asker = askerUntil(asker, this.#end.signal);
  }

  async ask(question: ServerQuestion, options: ServerQuestionOptions): Promise<JsonObject> {
    if (this.#open.size === 0) this.#openSince = performance.now();
    const answer = this.#asker.ask(question, options);
    this.#open.add(answer);
    try {
      return await answer;
    } finally {
      this.#open.delete(answer);
      if (this.#open.size === 0) this.#spentMs += performance.now() - this.#openSince;
    }
  }

  /** Waits until nothing is asked. How long it was, since this was asked for last. Milliseconds; 0 if nothing was. */
  async spentMs(): Promise<number> {
    while (this.#open.size > 0) await Promise.allSettled(this.#open);
    const spent = this.#spentMs;
    this.#spentMs = 0;
    return spent;
  }

  /** The call is answered. */
  end(): void {
    this.#end.abort();
  }
}
