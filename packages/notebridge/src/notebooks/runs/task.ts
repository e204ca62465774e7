import { randomUUID } from 'node:crypto';
import type { JsonObject } from '@notebridge/kit/json';
import { messageOf } from '@notebridge/kit/message-of';
import { Operation } from '@notebridge/kit/operation';
import type { Cancellation } from '../../core/cancellation.js';
import { toRpcError } from '../../core/errors.js';
import type { ToolResult } from '../../core/mcp.js';
import type { Era } from '../../core/protocol-versions.js';

export type TaskOutcome = { kind: 'result'; result: ToolResult } | { kind: 'error'; error: unknown } | { kind: 'cancelled' };

/** In the `_meta` of what is said of a task. */
export const relatedTaskKey = 'io.modelcontextprotocol/related-task';

/** Suggested to agents. Milliseconds. */
const pollIntervalMs = 1000;

/** A call as tasks of MCP have it, whose answer is asked for later. */
export interface NewTask {
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
}

export interface Task extends NewTask {
  /** Nobody can guess it. */
  readonly id: string;
  readonly call: Operation<TaskOutcome>;
}

export function createTask(asked: NewTask): Task {
  return { ...asked, id: randomUUID(), call: new Operation() };
}

/** One that still runs is kept beyond its time. */
export function isOver({ call, ttlMs }: Task): boolean {
  return call.hasEnded && Date.now() > call.startedAt + ttlMs;
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
