import { randomUUID } from 'node:crypto';
import type { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError, toRpcError } from '@notebridge/protocol/core/errors';
import type { ToolResult } from '@notebridge/protocol/core/mcp';
import type { Era } from '@notebridge/protocol/core/protocol-versions';
import type { JsonObject } from '@notebridge/protocol/json';
import { LastingOperation, OwnedOperations } from '@notebridge/protocol/runs/lasting-operation';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { quote } from '@notebridge/protocol/util/quote';

export type TaskOutcome = { kind: 'result'; result: ToolResult } | { kind: 'error'; error: unknown } | { kind: 'cancelled' };

/** In the `_meta` of what is said of a task. */
export const relatedTaskKey = 'io.modelcontextprotocol/related-task';

const hourMs = 3_600_000;
const leastTtlMs = 60_000;
const mostTtlMs = 24 * hourMs;
/** Of one owner; of ended ones the oldest give way. */
const maxTasks = 200;
const pageSize = 50;
/** Suggested to agents. Milliseconds. */
const pollIntervalMs = 1000;

/** A call as tasks of MCP have it, whose answer is asked for later. */
export interface Task {
  /** Nobody can guess it. */
  readonly id: string;
  /** On whose behalf: nobody else sees it. */
  readonly ownerKey: string;
  /** In which session it began. */
  readonly sessionId: string;
  /** Of the request that began it. */
  readonly era: Era;
  /** Of its call. */
  readonly cancellation: Cancellation;
  readonly ttlMs: number;
  /** The name of the tool that was called. */
  readonly tool: string;
  readonly call: LastingOperation<TaskOutcome>;
}

/** The tasks of a process, each seen by its owner alone. */
export class TaskStore {
  readonly #tasks = new OwnedOperations<Task>();

  /** Throws `limit_reached` if too many run. `ttlMs`: what the agent asked for. */
  create({ ttlMs, ...asked }: Omit<Task, 'id' | 'ttlMs' | 'call'> & { ttlMs: unknown }): Task {
    const own = this.#current().ofOwner(asked.ownerKey);
    if (own.length >= maxTasks) {
      const oldest = own.find(({ call }) => call.hasEnded);
      if (oldest === undefined) throw new BridgeError('limit_reached', `${maxTasks} tasks run already. Wait until one has ended.`);
      this.#tasks.delete(oldest.id);
    }
    const wanted = typeof ttlMs === 'number' && Number.isFinite(ttlMs) ? Math.round(ttlMs) : hourMs;
    const lastingMs = Math.min(mostTtlMs, Math.max(leastTtlMs, wanted));
    const task: Task = { ...asked, ttlMs: lastingMs, id: randomUUID(), call: new LastingOperation() };
    this.#tasks.set(task.id, task);
    return task;
  }

  /** Throws `bad_params`, for a task of somebody else as for none. */
  find(id: unknown, ownerKey: string): Task {
    const task = this.#current().find(id, ownerKey);
    if (task === undefined) throw new BridgeError('bad_params', `There is no task ${quote(id)}, or it is too long ago.`);
    return task;
  }

  has(id: unknown, ownerKey: string): boolean {
    return this.#current().find(id, ownerKey) !== undefined;
  }

  /** Newest first. `sessionId`: only those of this session. Throws `bad_params` for a cursor that is none. */
  list(ownerKey: string, cursor: unknown, sessionId?: string): { tasks: Task[]; nextCursor: string | undefined } {
    const own = this.#current()
      .ofOwner(ownerKey)
      .filter((task) => sessionId === undefined || task.sessionId === sessionId)
      .reverse();
    const start = cursor === undefined ? 0 : own.findIndex(({ id }) => id === cursor) + 1;
    if (cursor !== undefined && start === 0) throw new BridgeError('bad_params', 'The cursor is of no list of tasks.');
    const tasks = own.slice(start, start + pageSize);
    return { tasks, nextCursor: start + pageSize < own.length ? tasks.at(-1)?.id : undefined };
  }

  /** Without those whose time is over. One that still runs is kept beyond it. */
  #current(): OwnedOperations<Task> {
    for (const { id, call, ttlMs } of this.#tasks.values())
      if (call.hasEnded && Date.now() > call.startedAt + ttlMs) this.#tasks.delete(id);
    return this.#tasks;
  }
}

/** As the core of 2025-11-25 has it: a tool that failed is a task that failed. */
export function toLegacyTask(task: Task): JsonObject {
  return { ...toCommon(task, isFailure(task.call.result)), ttl: task.ttlMs, pollInterval: pollIntervalMs };
}

/** As the extension `io.modelcontextprotocol/tasks` has it, without what it gave. */
export function toModernTask(task: Task): JsonObject {
  return { ...toCommon(task, task.call.result?.kind === 'error'), ttlMs: task.ttlMs, pollIntervalMs };
}

/** With it. */
export function toDetailedTask(task: Task): JsonObject {
  const outcome = task.call.result;
  if (outcome?.kind === 'result') return { ...toModernTask(task), result: outcome.result };
  return outcome?.kind === 'error' ? { ...toModernTask(task), error: toRpcError(outcome.error) } : toModernTask(task);
}

function toCommon({ id, tool, call }: Task, hasFailed: boolean): JsonObject {
  const { result: outcome, startedAt, endedAt } = call;
  const ended = outcome?.kind === 'cancelled' ? 'cancelled' : hasFailed ? 'failed' : 'completed';
  return {
    taskId: id,
    status: outcome === undefined ? 'working' : ended,
    statusMessage: outcome === undefined ? `${tool} goes on: list_runs and get_run show what it has given.` : textOf(outcome, ended),
    createdAt: new Date(startedAt).toISOString(),
    lastUpdatedAt: new Date(endedAt ?? startedAt).toISOString(),
  };
}

function isFailure(outcome: TaskOutcome | undefined): boolean {
  return outcome?.kind === 'error' || (outcome?.kind === 'result' && outcome.result.isError === true);
}

function textOf(outcome: TaskOutcome, ended: string): string {
  if (outcome.kind === 'cancelled') return 'It was cancelled, and its cell asked to stop.';
  if (outcome.kind === 'error') return messageOf(outcome.error);
  const text = ended === 'failed' ? outcome.result.content?.[0]?.text : undefined;
  return typeof text === 'string' ? text.slice(0, 1000) : 'It has ended.';
}
