import type { Answered, CallNext, Middleware, MiddlewareContext } from '@notebridge/protocol/core/middleware';
import type { JsonObject } from '@notebridge/protocol/json';
import { nameOfAgent } from '../call-notebook-tool.js';
import type { ShownAgent } from './agent-roster.js';

/** Tells which agents are connected, under the names they gave themselves, for the notebook's windows. */
export class AgentWatchMiddleware implements Middleware {
  readonly #onAgents: (agents: readonly ShownAgent[]) => void;
  readonly #agents = new Map<string, string>();

  constructor(onAgents: (agents: readonly ShownAgent[]) => void) {
    this.#onAgents = onAgents;
  }

  /** The agent has gone. */
  endSession(sessionId: string): void {
    if (this.#agents.delete(sessionId)) this.#tell();
  }

  onMessage(context: MiddlewareContext, callNext: CallNext<JsonObject, JsonObject>): Promise<Answered<JsonObject>> {
    const { sessionId, door } = context.caller;
    // Code in a kernel is no agent.
    if (door === 'tool-proxy') return callNext(context);
    const name = nameOfAgent(context);
    if (this.#agents.get(sessionId) !== name) {
      this.#agents.set(sessionId, name);
      this.#tell();
    }
    return callNext(context);
  }

  #tell(): void {
    this.#onAgents([...this.#agents].map(([id, name]) => ({ id, name })));
  }
}
