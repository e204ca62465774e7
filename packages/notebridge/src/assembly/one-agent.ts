import type { CallContext } from '@notebridge/protocol/core/call-context';
import type { Middleware } from '@notebridge/protocol/core/middleware';
import { settlesWithin } from '@notebridge/protocol/util/settles-within';
import type { SoleAgent } from '../upstreams/sole-agent.js';

/** How long the answer to the first message waits for the servers, whose instructions it carries. Milliseconds. */
const startMs = 2000;
const openings = new Set(['initialize', 'server/discover']);

/** The one agent of a process, from its first message on: that starts the servers, which then speak as it does. */
export class OneAgent implements SoleAgent {
  readonly ready: Promise<void>;
  context: CallContext | undefined;
  #setReady = (): void => {};

  constructor() {
    this.ready = new Promise((resolve) => {
      this.#setReady = resolve;
    });
  }

  /** `start`: starts the servers. */
  middleware(start: () => Promise<void>): Middleware {
    return {
      name: 'one-agent',
      onMessage: async (context, callNext) => {
        const { method, caller } = context;
        if (caller.door === 'stdio' && method !== 'ping') {
          const isFirst = this.context === undefined;
          if (isFirst || (method === 'initialize' && this.context?.caller.era !== 'modern')) this.context = context;
          if (!openings.has(method)) this.#setReady();
          const starting = isFirst ? start() : undefined;
          if (starting !== undefined && openings.has(method)) await settlesWithin(starting, startMs);
        }
        return callNext(context);
      },
    };
  }
}
