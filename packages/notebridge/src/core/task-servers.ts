import type { JsonObject } from '@notebridge/kit/json';
import type { CallContext } from './call-context.js';

/** Servers that have tasks of their own (MCP 2025-11-25), as the one place that knows all tasks asks for them. */
export interface TaskServers {
  /** Whether calls of this tool, by the name that agents know, may be tasks at its server. */
  takesTasks(tool: string): boolean;
  /** A request about tasks to one server, with its own ids. Rejects with `unknown_server`, or as its answer says. */
  requestTask(server: string, request: { method: string; params: JsonObject }, context: CallContext): Promise<JsonObject>;
  /** Whether each session has a program of this server for itself, with ids of its own. */
  isPerAgent(server: string): boolean;
  /**
   * Listens to the states of tasks that servers report, with their own ids; `sessionId`: whose program it is, of a server that has one for
   * each session. Returns the unsubscribe function.
   */
  onTaskStatus(listener: (server: string, params: JsonObject, sessionId: string | undefined) => void): () => void;
}
