import type { JsonObject } from '../json.js';
import type { CallContext } from './call-context.js';
import type { Era } from './protocol-versions.js';
import type { ProviderEvent } from './provider.js';

/** The extension of 2026-07-28 by which calls become tasks. */
export const tasksExtension = 'io.modelcontextprotocol/tasks';

/** Of that extension: tells who listens to a task of its state. */
export const taskEvent = 'notifications/tasks';

/** What servers say of their tasks, by their own ids, which agents never see. */
export const taskReports: ReadonlySet<string> = new Set(['notifications/tasks/status', taskEvent]);

/** What a client declares that takes tasks. */
export const tasksDeclared: JsonObject = { extensions: { [tasksExtension]: {} } };

/** True if the capabilities of a client or server have the extension. */
export function hasTasksExtension(capabilities: JsonObject | undefined): boolean {
  const extensions = capabilities?.extensions;
  return typeof extensions === 'object' && extensions !== null && tasksExtension in extensions;
}

/** What a server says of one of its tasks, with its own id. */
export interface TaskReport extends ProviderEvent {
  params: JsonObject;
}

/** Servers that have tasks of their own, as the one place that knows all tasks asks for them. */
export interface TaskServers {
  /** Whether calls of this tool, by the name that agents know, may be tasks at its server, in that era's way. */
  takesTasks(tool: string, era: Era): boolean;
  /** Whether a server has the extension of 2026-07-28, as far as is known. */
  readonly haveTasksExtension: boolean;
  /** Resolves when those that start have started, or after a short time. */
  started(): Promise<void>;
  /** A request about tasks to one server, with its own ids. Rejects with `unknown_server`, or as its answer says. */
  requestTask(server: string, request: { method: string; params: JsonObject }, context: CallContext): Promise<JsonObject>;
  /** Whether each session has a program of this server for itself, with ids of its own. */
  isPerAgent(server: string): boolean;
  /** Has a server of the modern era tell of a task, by its own id, until the returned function is called. */
  watchTask(server: string, taskId: string, context: CallContext): () => void;
  /**
   * Listens to what servers report of tasks, with their own ids; `sessionId` of a report: whose program it is, of a server that has one for
   * each session. Returns the unsubscribe function.
   */
  onTaskReport(listener: (server: string, report: TaskReport) => void): () => void;
}
