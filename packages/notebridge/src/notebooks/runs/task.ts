import { randomUUID } from 'node:crypto';
import type { JsonObject } from '@notebridge/kit/json';
import { messageOf } from '@notebridge/kit/message-of';
import type { Cancellation } from '../../core/cancellation.js';
import { toRpcError } from '../../core/errors.js';
import type { ToolResult } from '../../core/mcp.js';
import type { Era } from '../../core/protocol-versions.js';

export type TaskOutcome = { kind: 'result'; result: ToolResult } | { kind: 'error'; error: unknown } | { kind: 'cancelled' };

/** What a task is made of. */
export interface NewTask extends Pick<Task, 'ownerKey' | 'sessionId' | 'era' | 'ttlMs' | 'cancellation'> {
  /** The name of the tool that was called. */
  tool: string;
}

/** In the `_meta` of what is said of a task. */
export const relatedTaskKey = 'io.modelcontextprotocol/related-task';

/** Suggested to agents. Milliseconds. */
const pollIntervalMs = 1000;

/** A run of a cell as tasks of MCP have it: a call whose answer is asked for later. */
export class Task {
  /** Nobody can guess it. */
  readonly id = randomUUID();
  /** On whose behalf: nobody else sees it. */
  readonly ownerKey: string;
  /** In which session it began. */
  readonly sessionId: string;
  /** Of the request that began it. */
  readonly era: Era;
  /** Of its call. */
  readonly cancellation: Cancellation;
  readonly ended: Promise<void>;
  readonly createdAt = new Date();
  readonly ttlMs: number;
  readonly #tool: string;
  #changedAt = this.createdAt;
  #outcome: TaskOutcome | undefined;
  #resolve: () => void = () => {};

  constructor({ ownerKey, sessionId, era, cancellation, ttlMs, tool }: NewTask) {
    this.ownerKey = ownerKey;
    this.sessionId = sessionId;
    this.era = era;
    this.cancellation = cancellation;
    this.ttlMs = ttlMs;
    this.#tool = tool;
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get outcome(): TaskOutcome | undefined {
    return this.#outcome;
  }

  /** One that still runs is kept beyond its time. */
  isOver(now: number): boolean {
    return this.#outcome !== undefined && now > this.createdAt.getTime() + this.ttlMs;
  }

  /** The first outcome stays. */
  end(outcome: TaskOutcome): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = outcome;
    this.#changedAt = new Date();
    this.#resolve();
  }

  /** As the core of 2025-11-25 has it: a tool that failed is a task that failed. */
  toLegacy(): JsonObject {
    return { ...this.#common(isFailure(this.#outcome)), ttl: this.ttlMs, pollInterval: pollIntervalMs };
  }

  /** As the extension `io.modelcontextprotocol/tasks` has it, without what it gave. */
  toModern(): JsonObject {
    return { ...this.#common(this.#outcome?.kind === 'error'), ttlMs: this.ttlMs, pollIntervalMs };
  }

  /** With it. */
  toDetailed(): JsonObject {
    const outcome = this.#outcome;
    if (outcome?.kind === 'result') return { ...this.toModern(), result: outcome.result };
    return outcome?.kind === 'error' ? { ...this.toModern(), error: toRpcError(outcome.error) } : this.toModern();
  }

  #common(hasFailed: boolean): JsonObject {
    const outcome = this.#outcome;
    const ended = outcome?.kind === 'cancelled' ? 'cancelled' : hasFailed ? 'failed' : 'completed';
    return {
      taskId: this.id,
      status: outcome === undefined ? 'working' : ended,
      statusMessage:
        outcome === undefined ? `${this.#tool} goes on: list_runs and get_run show what it has given.` : textOf(outcome, ended),
      createdAt: this.createdAt.toISOString(),
      lastUpdatedAt: this.#changedAt.toISOString(),
    };
  }
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
