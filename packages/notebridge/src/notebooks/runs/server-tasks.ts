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
  /** The session whose own program has it; undefined for a server that all share. */
  readonly programOf: string | undefined;
}

/** Tasks of servers that are remembered for one owner; the oldest give way. */
const maxTasks = 200;
/** Characters of an id that a server gives. */
const maxIdLength = 1024;

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
    servers.onTaskStatus((server, params, programOf) => {
      const named = { server, remoteId: params.taskId, programOf };
      const task = this.#named(named);
      if (task === undefined) this.#keepEarly(earlyKey(named), params);
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
    assertShort(begun.taskId, asked.server);
    const programOf = this.#servers.isPerAgent(asked.server) ? asked.sessionId : undefined;
    // A server that was started anew begins to count anew: what had the number before is over, and must not be answered by this one.
    const before = this.#named({ server: asked.server, remoteId: begun.taskId, programOf });
    if (before !== undefined) this.#tasks.delete(before.id);
    const own = this.#ownedBy(asked.ownerKey);
    if (own.length >= maxTasks) this.#tasks.delete(own[0]?.id ?? '');
    const task: ServerTask = { ...asked, id: randomUUID(), remoteId: begun.taskId, programOf };
    this.#tasks.set(task.id, task);
    const early = this.#early.get(earlyKey(task));
    // After the answer, by which the agent learns of the task.
    if (early !== undefined && this.#early.delete(earlyKey(task))) setImmediate(() => this.#tell(task, early));
    return { ...result, task: withId(begun, task.id) };
  }

  /** The task of this id, if it is the owner's and its program can be asked in this session. */
  find(id: unknown, ownerKey: string, sessionId: string): ServerTask | undefined {
    const task = this.#tasks.get(id as string);
    return task?.ownerKey === ownerKey && isAskedIn(task, sessionId) ? task : undefined;
  }

  /** Asks the server of the task. */
  async request(task: ServerTask, context: CallContext & { method: string; message: JsonObject }): Promise<JsonObject> {
    const params = { ...context.message, taskId: task.remoteId };
    const answered = await this.#servers.requestTask(task.server, { method: context.method, params }, context);
    // It was over, and its number another one's, before this was answered.
    if (!this.#tasks.has(task.id)) throw new BridgeError('bad_params', 'The server was started anew, and does not know the task any more.');
    return withId(answered, task.id);
  }

  /** What each server says of its tasks, newest first. Those that it does not know any more are forgotten. */
  async list(ownerKey: string, context: CallContext): Promise<JsonObject[]> {
    const own = this.#ownedBy(ownerKey).filter((task) => isAskedIn(task, context.caller.sessionId));
    const asked = own.map(async (task) => {
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

  #named({ server, remoteId, programOf }: NamedTask): ServerTask | undefined {
    const isIt = (one: ServerTask): boolean => one.server === server && one.remoteId === remoteId && one.programOf === programOf;
    return [...this.#tasks.values()].find(isIt);
  }

  #ownedBy(ownerKey: string): ServerTask[] {
    return [...this.#tasks.values()].filter((task) => task.ownerKey === ownerKey);
  }
}

/** A task as its server names it. */
type NamedTask = Pick<ServerTask, 'server' | 'programOf'> & { remoteId: unknown };

function earlyKey({ server, remoteId, programOf }: NamedTask): string {
  return JSON.stringify([server, remoteId, programOf ?? null]);
}

function isAskedIn({ programOf }: ServerTask, sessionId: string): boolean {
  return programOf === undefined || programOf === sessionId;
}

function assertShort(taskId: string, server: string): void {
  if (taskId.length <= maxIdLength) return;
  const message = `"${server}" gave a task an id of ${taskId.length} characters; ${maxIdLength} are taken. The task may run there.`;
  throw new BridgeError('upstream_unavailable', message, { data: { server, ran: 'unknown' } });
}

/** The same, about the task of this id. */
function withId(said: JsonObject, taskId: string): JsonObject {
  const named = said.taskId === undefined ? said : { ...said, taskId };
  const meta = named._meta;
  if (!isJsonObject(meta) || !isJsonObject(meta[relatedTaskKey])) return named;
  return { ...named, _meta: { ...meta, [relatedTaskKey]: { ...meta[relatedTaskKey], taskId } } };
}
