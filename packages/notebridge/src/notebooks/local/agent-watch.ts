import type { JsonObject } from '@notebridge/kit/json';
import type { NotebookHost } from '@notebridge/notebook/host';
import type { Answered, CallNext, Middleware, MiddlewareContext } from '../../core/middleware.js';
import { nameOfAgent } from './local-notebook.js';

/** Shows the notebook's windows which agents are connected, under the names they gave themselves. */
export class AgentWatchMiddleware implements Middleware {
  readonly #host: NotebookHost;
  readonly #agents = new Map<string, string>();

  constructor(host: NotebookHost) {
    this.#host = host;
  }

  onMessage(context: MiddlewareContext, callNext: CallNext<JsonObject, JsonObject>): Promise<Answered<JsonObject>> {
    const { sessionId, door } = context.caller;
    // Code in a kernel is no agent.
    if (door === 'tool-proxy') return callNext(context);
    const name = nameOfAgent(context);
    if (this.#agents.get(sessionId) !== name) {
      this.#agents.set(sessionId, name);
      this.#host.setAgents([...this.#agents].map(([id, shown]) => ({ id, name: shown })));
    }
    return callNext(context);
  }
}
