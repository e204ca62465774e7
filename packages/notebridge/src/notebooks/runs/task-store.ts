import { OwnedOperations } from '@notebridge/kit/operation';
import { BridgeError } from '../../core/errors.js';
import { quote } from '../../util/quote.js';
import { createTask, isOver, type NewTask, type Task } from './task.js';

const hourMs = 3_600_000;
const leastTtlMs = 60_000;
const mostTtlMs = 24 * hourMs;
/** Of one owner; of ended ones the oldest give way. */
const maxTasks = 200;
const pageSize = 50;

/** The tasks of a process, each seen by its owner alone. */
export class TaskStore {
  readonly #tasks = new OwnedOperations<Task>();

  /** Throws `limit_reached` if too many run. `ttlMs`: what the agent asked for. */
  create({ ttlMs, ...asked }: Omit<NewTask, 'ttlMs'> & { ttlMs: unknown }): Task {
    const own = this.#current().ofOwner(asked.ownerKey);
    if (own.length >= maxTasks) {
      const oldest = own.find(({ call }) => call.hasEnded);
      if (oldest === undefined) throw new BridgeError('limit_reached', `${maxTasks} tasks run already. Wait until one has ended.`);
      this.#tasks.delete(oldest.id);
    }
    const wanted = typeof ttlMs === 'number' && Number.isFinite(ttlMs) ? Math.round(ttlMs) : hourMs;
    const task = createTask({ ...asked, ttlMs: Math.min(mostTtlMs, Math.max(leastTtlMs, wanted)) });
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

  /** Without those whose time is over. */
  #current(): OwnedOperations<Task> {
    for (const task of this.#tasks.values()) if (isOver(task)) this.#tasks.delete(task.id);
    return this.#tasks;
  }
}
