import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import type { CallContext } from '../../core/call-context.js';
import { BridgeError, RemoteError } from '../../core/errors.js';
import type { ProviderEvent } from '../../core/provider.js';
import type { TaskServers } from '../../core/task-servers.js';
import { relatedTaskKey } from './task.js';

/** A task that a server has begun for a call, as it is known here. */
export interface ServerTask {
  /** Nobody can guess it. */
  readonly id: string;
  readonly server: string;
  /** Its id at the server, which agents never see: two servers may use the same. */
  readonly remoteId: string;
  readonly ownerKey: string;
  /** In which session it began. */
  readonly sessionId: string;
}

/** Tasks of servers that are remembered for one owner; the oldest give way. */
const maxTasks = 200;

/** States of tasks that nobody knows yet; most are of tasks that were forgotten. */
const maxEarly = 64;

/**
 * The tasks that servers run themselves, under ids of ours that belong to who began them. What a server says of a task passes as it is, but
 * for the id; when it is over and forgotten, is for the server to say.
 */
export class ServerTasks {
  readonly #servers: TaskServers;
  readonly #emit: (event: ProviderEvent) => void;
  readonly #tasks = new Map<string, ServerTask>();
  /** What servers say of tasks that are not known yet: one that is quick is over before its call is answered here. */
  readonly #early = new Map<string, JsonObject>();

  constructor(servers: TaskServers, emit: (event: ProviderEvent) => void) {
    this.#servers = servers;
    servers.onTaskStatus((server, params) => {
      const task = [...this.#tasks.values()].find((one) => one.server === server && one.remoteId === params.taskId);
      if (task === undefined) this.#keepEarly(earlyKey(server, params.taskId), params);
      else this.#tell(task, params);
    });
    this.#emit = emit;
  }

  takes(tool: string): boolean {
    return this.#servers.takesTasks(tool);
  }

  /** The answer to a call that asked for a task: with an id of ours, if the server has begun one. */
  begin(result: JsonObject, asked: Pick<ServerTask, 'server' | 'ownerKey' | 'sessionId'>): JsonObject {
    const begun = result.task;
    if (!isJsonObject(begun) || typeof begun.taskId !== 'string') return result;
    const own = this.#ownedBy(asked.ownerKey);
    if (own.length >= maxTasks) this.#tasks.delete(own[0]?.id ?? '');
    const task: ServerTask = { ...asked, id: randomUUID(), remoteId: begun.taskId };
    this.#tasks.set(task.id, task);
    const early = this.#early.get(earlyKey(task.server, task.remoteId));
    // After the answer, by which the agent learns of the task.
    if (early !== undefined && this.#early.delete(earlyKey(task.server, task.remoteId))) setImmediate(() => this.#tell(task, early));
    return { ...result, task: withId(begun, task.id) };
  }

  find(id: unknown, ownerKey: string): ServerTask | undefined {
    const task = this.#tasks.get(id as string);
    return task?.ownerKey === ownerKey ? task : undefined;
  }

  /** Asks the server of the task. */
  async request(task: ServerTask, context: CallContext & { method: string; message: JsonObject }): Promise<JsonObject> {
    const params = { ...context.message, taskId: task.remoteId };
    return withId(await this.#servers.requestTask(task.server, { method: context.method, params }, context), task.id);
  }

  /** What each server says of its tasks, newest first. Those that it does not know any more are forgotten. */
  async list(ownerKey: string, context: CallContext): Promise<JsonObject[]> {
    const asked = this.#ownedBy(ownerKey).map(async (task) => {
      try {
        const request = { method: 'tasks/get', params: { taskId: task.remoteId } };
        return [withId(await this.#servers.requestTask(task.server, request, context), task.id)];
      } catch (error) {
        // Whatever else keeps a server from answering, the task may go on.
        if (error instanceof RemoteError && error.raw.code === -32602) this.#tasks.delete(task.id);
        if (context.cancellation.reason !== undefined) throw new BridgeError('cancelled', 'The list of tasks was cancelled.');
        return [];
      }
    });
    return (await Promise.all(asked)).flat().reverse();
  }

  #tell(task: ServerTask, params: JsonObject): void {
    this.#emit({ method: 'notifications/tasks/status', params: withId(params, task.id), sessionId: task.sessionId });
  }

  #keepEarly(key: string, params: JsonObject): void {
    this.#early.delete(key);
    this.#early.set(key, params);
    const [oldest] = this.#early.keys();
    if (this.#early.size > maxEarly && oldest !== undefined) this.#early.delete(oldest);
  }

  #ownedBy(ownerKey: string): ServerTask[] {
    return [...this.#tasks.values()].filter((task) => task.ownerKey === ownerKey);
  }
}

function earlyKey(server: string, remoteId: unknown): string {
  return JSON.stringify([server, remoteId]);
}

/** The same, about the task of this id. */
function withId(said: JsonObject, taskId: string): JsonObject {
  const named = said.taskId === undefined ? said : { ...said, taskId };
  const meta = named._meta;
  if (!isJsonObject(meta) || !isJsonObject(meta[relatedTaskKey])) return named;
  return { ...named, _meta: { ...meta, [relatedTaskKey]: { ...meta[relatedTaskKey], taskId } } };
}
