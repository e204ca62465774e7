import { randomUUID } from 'node:crypto';
import type { CallContext } from '@notebridge/protocol/core/call-context';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError, RemoteError } from '@notebridge/protocol/core/errors';
import type { Era } from '@notebridge/protocol/core/protocol-versions';
import type { ProviderEvent } from '@notebridge/protocol/core/provider';
import { canAnswer, isQuestion, type Question, withAsker } from '@notebridge/protocol/core/questions';
import { RequestContext } from '@notebridge/protocol/core/request-context';
import { type TaskReport, type TaskServers, taskEvent } from '@notebridge/protocol/core/task-servers';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { unanswered } from '@notebridge/protocol/questions/put-question';
import { OwnedOperations } from '@notebridge/protocol/runs/lasting-operation';
import { keepLatest } from '@notebridge/protocol/util/keep-latest';
import { relatedTaskKey } from './task.js';

/** A task that a server has begun for a call, as it is known here. */
export interface ServerTask {
  /** Nobody can guess it. */
  readonly id: string;
  readonly server: string;
  /** Its id at the server, which agents never see: two servers may use the same. */
  readonly remoteId: string;
  /** Of the server, and of all who know of the task: nothing is translated. */
  readonly era: Era;
  readonly ownerKey: string;
  /** In which session it began. */
  readonly sessionId: string;
  /** The session whose own program has it; undefined for a server that all share. */
  readonly programOf: string | undefined;
  /** By how many listens it is watched at the server, what who listens can be asked, and how that is ended. */
  watch?: { listens: number; capabilities: JsonObject | undefined; stop: () => void };
  /** It is not to be ended any more with the right of its caller. */
  release?: () => void;
}

type TaskRequest = CallContext & { method: string; message: JsonObject };

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
  readonly #tasks = new OwnedOperations<ServerTask>();
  /** What servers say of tasks that are not known yet: one that is quick is over before its call is answered here. */
  readonly #early = new Map<string, TaskReport>();

  constructor(servers: TaskServers, emit: (event: ProviderEvent) => void) {
    this.#servers = servers;
    servers.onTaskReport((server, report) => {
      const named = { server, remoteId: report.params.taskId, programOf: report.sessionId };
      const task = this.#named(named);
      if (task !== undefined) this.#tell(task, report);
      // Of tasks of the modern era a server speaks when it was asked to.
      else if (report.method !== taskEvent) keepLatest(this.#early, [earlyKey(named), report], maxEarly);
    });
    this.#emit = emit;
  }

  takes(tool: string, era: Era): boolean {
    return this.#servers.takesTasks(tool, era);
  }

  get haveExtension(): boolean {
    return this.#servers.haveTasksExtension;
  }

  /** Resolves when servers that start have said whether they have tasks, or after a short time. */
  known(): Promise<void> {
    return this.#servers.started();
  }

  /** The answer to a call that may become a task: with an id of ours, if the server has begun one. */
  begin(result: JsonObject, asked: Pick<ServerTask, 'server' | 'era' | 'ownerKey' | 'sessionId'>, context: CallContext): JsonObject {
    const isModern = asked.era === 'modern';
    const begun = isModern ? result : result.task;
    if (!isJsonObject(begun) || typeof begun.taskId !== 'string' || (isModern && result.resultType !== 'task')) return result;
    assertShort(begun.taskId, asked.server);
    const programOf = this.#programOf(asked);
    // A server that was started anew begins to count anew: what had the number before is over, and must not be answered by this one.
    this.#forget(this.#named({ server: asked.server, remoteId: begun.taskId, programOf }));
    const own = this.#tasks.ofOwner(asked.ownerKey);
    if (own.length >= maxTasks) this.#forget(own[0]);
    const task: ServerTask = { ...asked, id: randomUUID(), remoteId: begun.taskId, programOf };
    this.#tasks.set(task.id, task);
    task.release = context.cancellation.outlive(() => void this.#cancel(task, context));
    const early = this.#early.get(earlyKey(task));
    // After the answer, by which the agent learns of the task.
    if (early !== undefined && this.#early.delete(earlyKey(task))) setImmediate(() => this.#tell(task, early));
    return isModern ? withId(begun, task.id) : { ...result, task: withId(begun, task.id) };
  }

  /** Progress of a server with our id of the task that it is of, if it says so; `sessionId`: of the call that it came for. */
  toOwnProgress({ server, sessionId }: { server: string; sessionId: string }, params: JsonObject): JsonObject {
    const meta = params._meta;
    if (!isJsonObject(meta) || !isJsonObject(meta[relatedTaskKey])) return params;
    const { [relatedTaskKey]: related, ...rest } = meta;
    const task = this.#named({ server, remoteId: related.taskId, programOf: this.#programOf({ server, sessionId }) });
    // Before the call is answered nobody knows of the task.
    return task === undefined ? { ...params, _meta: rest } : withId(params, task.id);
  }

  /** The task of this id, if it is the owner's, and its program can be asked in this session. */
  find(id: unknown, { ownerKey, era, sessionId }: Pick<ServerTask, 'ownerKey' | 'era' | 'sessionId'>): ServerTask | undefined {
    const task = this.#tasks.find(id, ownerKey);
    return task?.era === era && isAskedIn(task, sessionId) ? task : undefined;
  }

  /** Asks the server of the task. */
  async request(task: ServerTask, context: TaskRequest): Promise<JsonObject> {
    const params = { ...context.message, taskId: task.remoteId };
    const answered = await this.#servers.requestTask(task.server, { method: context.method, params }, context);
    // It was over, and its number another one's, before this was answered.
    if (!this.#tasks.has(task.id)) throw new BridgeError('bad_params', 'The server was started anew, and does not know the task any more.');
    const said = withId(answered, task.id);
    return task.era === 'modern' ? withAskers(said, task.server, context.clientCapabilities) : said;
  }

  /** Has its server tell of the task, until the returned function is called. */
  watch(task: ServerTask, context: CallContext): () => void {
    const watch = task.watch ?? { listens: 0, capabilities: undefined, stop: this.#servers.watchTask(task.server, task.remoteId, context) };
    task.watch = watch;
    watch.listens++;
    watch.capabilities = context.clientCapabilities;
    return () => {
      if (--watch.listens > 0) return;
      watch.stop();
      delete task.watch;
    };
  }

  /** What each server says of its tasks, newest first. Those that it does not know any more are forgotten. */
  async list(ownerKey: string, context: CallContext): Promise<JsonObject[]> {
    const own = this.#tasks.ofOwner(ownerKey).filter((task) => task.era === 'legacy' && isAskedIn(task, context.caller.sessionId));
    const asked = own.map(async (task) => {
      try {
        const request = { method: 'tasks/get', params: { taskId: task.remoteId } };
        return [withId(await this.#servers.requestTask(task.server, request, context), task.id)];
      } catch (error) {
        // Whatever else keeps a server from answering, the task may go on.
        if (error instanceof RemoteError && error.raw.code === -32602) this.#forget(task);
        if (context.cancellation.reason !== undefined) throw new BridgeError('cancelled', 'The list of tasks was cancelled.');
        return [];
      }
    });
    return (await Promise.all(asked)).flat().reverse();
  }

  #tell({ id, server, sessionId, era, watch }: ServerTask, { method, params }: TaskReport): void {
    if ((method === taskEvent) !== (era === 'modern')) return;
    const told = withId(params, id);
    // Those who listen to it know of it, whatever session they are.
    if (era === 'modern') this.#emit({ method, params: withAnswerable(told, server, watch?.capabilities) });
    else this.#emit({ method, params: told, sessionId });
  }

  /** Cancels a task at its server, since the agent that began it may not call any more. */
  async #cancel({ server, remoteId }: ServerTask, { callId, caller, clientCapabilities }: CallContext): Promise<void> {
    const request = { method: 'tasks/cancel', params: { taskId: remoteId } };
    const asker = clientCapabilities && { clientCapabilities };
    const cancelling = { type: 'request', method: request.method, message: {}, callId, caller, asker, notify: () => {} } as const;
    // It may be over, or its server gone.
    await this.#servers
      .requestTask(server, request, new RequestContext({ ...cancelling, cancellation: new Cancellation() }))
      .catch(() => {});
  }

  #programOf({ server, sessionId }: { server: string; sessionId: string }): string | undefined {
    return this.#servers.isPerAgent(server) ? sessionId : undefined;
  }

  #forget(task: ServerTask | undefined): void {
    if (task === undefined) return;
    task.watch?.stop();
    task.release?.();
    this.#tasks.delete(task.id);
  }

  #named({ server, remoteId, programOf }: NamedTask): ServerTask | undefined {
    const isIt = (one: ServerTask): boolean => one.server === server && one.remoteId === remoteId && one.programOf === programOf;
    return [...this.#tasks.values()].find(isIt);
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

/**
 * What a server says of a task, with its name in what it asks there. Throws `bad_message` for what is no question, `unanswered_question`
 * for one that the agent did not declare, or that must not be shown.
 */
function withAskers(said: JsonObject, server: string, capabilities: JsonObject | undefined): JsonObject {
  if (!isJsonObject(said.inputRequests)) return said;
  const name = ([key, question]: [string, unknown]): [string, Question] => {
    if (!isQuestion(question)) throw new BridgeError('bad_message', `"${server}" asked in a task for what nobody knows.`);
    if (!canAnswer(capabilities, question))
      throw unanswered(question, server, 'whoever asks of the task did not declare that it can answer that');
    return [key, withAsker(question, server)];
  };
  return { ...said, inputRequests: Object.fromEntries(Object.entries(said.inputRequests).map(name)) };
}

/** The same for who was not asking: what it must not be shown, `tasks/get` refuses. */
function withAnswerable(said: JsonObject, server: string, capabilities: JsonObject | undefined): JsonObject {
  try {
    return withAskers(said, server, capabilities);
  } catch {
    const { inputRequests: _, ...rest } = said;
    return rest;
  }
}
