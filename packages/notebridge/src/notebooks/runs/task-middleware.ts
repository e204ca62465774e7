import type { Caller } from '@notebridge/protocol/core/call-context';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { ListToolsResult, Tool, ToolCall, ToolResult } from '@notebridge/protocol/core/mcp';
import { type Answered, answer, type CallNext, type Middleware, type MiddlewareContext } from '@notebridge/protocol/core/middleware';
import { owner, principalKey } from '@notebridge/protocol/core/principal';
import type { ProviderEvent } from '@notebridge/protocol/core/provider';
import { RequestContext } from '@notebridge/protocol/core/request-context';
import { type TaskServers, taskEvent, tasksDeclared, tasksExtension } from '@notebridge/protocol/core/task-servers';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { envelopeKeys } from '@notebridge/protocol/rpc/modern-envelope';
import { maxWaitSeconds } from '@notebridge/protocol/runs/run-words';
import { quote } from '@notebridge/protocol/util/quote';
import { settlesWithin } from '@notebridge/protocol/util/settles-within';
import { followToEnd } from './follow-to-end.js';
import { ServerTasks } from './server-tasks.js';
import { relatedTaskKey, type Task, TaskStore, toDetailedTask, toLegacyTask, toModernTask } from './task.js';

export interface TaskMiddlewareOptions {
  /** Notifies agents. */
  emit: (event: ProviderEvent) => void;
  /** Servers that have tasks of their own. Left out: there are none. */
  servers?: TaskServers | undefined;
  /** False: there is no notebook whose runs could be tasks. Default true. */
  hasRuns?: boolean | undefined;
  /** Where a task counts until it has ended: the end of the hub waits for it, then cancels it. Default: nothing waits. */
  calls?: LastingCalls | undefined;
}

/** Calls that go on without a connection. */
export interface LastingCalls {
  addLasting(call: Cancellation): Set<Cancellation>;
  remove(where: Set<Cancellation>, call: Cancellation): void;
}

type Context = MiddlewareContext<JsonObject>;
type Answer = Promise<Answered<JsonObject>>;

/** The version of the legacy era that has tasks in its core. */
const versionWithTasks = '2025-11-25';
const legacyMethods = new Set(['tasks/get', 'tasks/result', 'tasks/list', 'tasks/cancel']);
const modernMethods = new Set(['tasks/get', 'tasks/update', 'tasks/cancel']);
const runNames = new Set(['run_code_cell', 'run_code']);
/** How long an agent that takes tasks is made to wait for an answer that may be there at once. Seconds. */
const promptSeconds = 5;

/**
 * The one place that knows all tasks: those that servers have of themselves, for agents of the same era (the tasks of the two eras are not
 * translated into each other), and tasks of MCP over the runs of the notebook: those of 2025-11-25, which the agent asks for, and the extension of 2026-07-28, where a run
 * that takes long becomes one. A task is the call itself, which is waited for here; so it gives exactly what the call would have given.
 */
export class TaskMiddleware implements Middleware {
  readonly name = 'tasks';
  readonly #options: TaskMiddlewareOptions;
  readonly #store = new TaskStore();
  readonly #ofServers: ServerTasks | undefined;
  /** Those that opened a session of the version with tasks. */
  readonly #callers = new WeakSet<Caller>();
  /** The tools that can be waited for; undefined before the first list. */
  #waitable: ReadonlySet<string> | undefined;

  constructor(options: TaskMiddlewareOptions) {
    const { emit, servers } = options;
    this.#options = options;
    this.#ofServers = servers && new ServerTasks(servers, emit);
  }

  /** Not async: every request comes through here. */
  onRequest(context: Context, callNext: CallNext<JsonObject, JsonObject>): Answer {
    switch (context.method) {
      case 'initialize':
      case 'server/discover':
        return this.#declare(context, callNext);
      case 'tools/list':
        return this.#list(context, callNext as CallNext<JsonObject, ListToolsResult>);
      case 'tools/call':
        return this.#call(context as MiddlewareContext<ToolCall>, callNext as CallNext<ToolCall, ToolResult>);
      case 'subscriptions/listen':
        return this.#listen(context, callNext);
      default:
        return this.#isAboutTasks(context) ? this.#answer(context) : callNext(context);
    }
  }

  /** Elsewhere the methods mean what whoever stands behind us makes of them. */
  #isAboutTasks({ method, caller }: Context): boolean {
    return caller.era === 'modern'
      ? modernMethods.has(method) && this.#hasExtension
      : legacyMethods.has(method) && this.#callers.has(caller);
  }

  get #hasExtension(): boolean {
    return this.#options.hasRuns !== false || this.#ofServers?.haveExtension === true;
  }

  async #declare(context: Context, callNext: CallNext<JsonObject, JsonObject>): Answer {
    const result = await callNext(context);
    const capabilities = isJsonObject(result.capabilities) ? result.capabilities : {};
    if (context.method === 'server/discover') {
      // Only who takes tasks waits for servers that start.
      if (!this.#hasExtension && declaresTasks(context)) await this.#ofServers?.known();
      if (!this.#hasExtension) return result;
      const extensions = isJsonObject(capabilities.extensions) ? capabilities.extensions : {};
      return { ...result, capabilities: { ...capabilities, extensions: { ...extensions, [tasksExtension]: {} } } };
    }
    if (result.protocolVersion !== versionWithTasks) return result;
    this.#callers.add(context.caller);
    return { ...result, capabilities: { ...capabilities, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } } };
  }

  async #list(context: Context, callNext: CallNext<JsonObject, ListToolsResult>): Answer {
    const result = await callNext(context);
    const waitable = result.tools.filter(canWait).map(({ name }) => name);
    // Later pages of a list add to the first.
    this.#waitable = new Set([...(context.message.cursor === undefined ? [] : (this.#waitable ?? [])), ...waitable]);
    if (!this.#callers.has(context.caller)) return result;
    const asTheySay = (name: string): boolean => !waitable.includes(name) && this.#ofServers?.takes(name, 'legacy') === true;
    return {
      ...result,
      tools: result.tools.map((tool) => (asTheySay(tool.name) ? tool : withTaskSupport(tool, waitable.includes(tool.name)))),
    };
  }

  #call(context: MiddlewareContext<ToolCall>, callNext: CallNext<ToolCall, ToolResult>): Answer {
    const { name, task } = context.message;
    const canBeTask = runNames.has(name) && this.#waitable?.has(name) !== false && context.target === undefined;
    const { target, caller } = context;
    const isOfServer = (): boolean => target !== undefined && this.#ofServers?.takes(name, caller.era) === true;
    if (caller.era === 'modern') {
      if (!declaresTasks(context)) return callNext(context);
      if (isOfServer()) return this.#callServer(withTasks(context), callNext);
      return canBeTask ? this.#callOrTask(context, callNext) : callNext(context);
    }
    if (!isJsonObject(task) || !this.#callers.has(caller)) return callNext(context);
    if (isOfServer()) return this.#callServer(this.#withOwnIds(context), callNext);
    if (!canBeTask) throw new BridgeError('unknown_method', `${quote(name)} cannot be called as a task.`);
    return this.#createTask(context, callNext, task);
  }

  /** Its progress names the task, also when the call is answered. */
  #withOwnIds(context: MiddlewareContext<ToolCall>): MiddlewareContext<ToolCall> {
    const calledAt = { server: context.target?.server ?? '', sessionId: context.caller.sessionId };
    return context.copy({ message: context.message, toProgress: (params) => this.#ofServers?.toOwnProgress(calledAt, params) ?? params });
  }

  async #callServer(context: MiddlewareContext<ToolCall>, callNext: CallNext<ToolCall, ToolResult>): Answer {
    const result = await callNext(context);
    const { sessionId, era } = context.caller;
    const server = context.target?.server ?? '';
    return answer(this.#ofServers?.begin(result, { server, era, ownerKey: ownerKeyOf(context), sessionId }, context) ?? result);
  }

  async #createTask(context: MiddlewareContext<ToolCall>, callNext: CallNext<ToolCall, ToolResult>, { ttl }: JsonObject): Answer {
    const task = this.#newTask(context, ttl);
    this.#follow(task, startRun(context, callNext, task.cancellation));
    return answer({ task: toLegacyTask(task) });
  }

  async #callOrTask(context: MiddlewareContext<ToolCall>, callNext: CallNext<ToolCall, ToolResult>): Answer {
    const cancellation = new Cancellation();
    const stop = context.cancellation.onCancel((reason) =>
      cancellation.cancel(reason, { callerIsGone: context.cancellation.callerIsGone }),
    );
    const answering = startRun(context, callNext, cancellation);
    const { wait_seconds: seconds } = context.message.arguments ?? {};
    const waitMs = 1000 * (typeof seconds === 'number' && seconds >= 0 ? seconds : promptSeconds);
    const isAnswered = await settlesWithin(answering, waitMs);
    stop();
    if (isAnswered) return answer(await answering);
    const task = this.#newTask(context, undefined, cancellation);
    this.#follow(task, answering);
    return answer({ resultType: 'task', ...toModernTask(task) });
  }

  #newTask(context: MiddlewareContext<ToolCall>, ttlMs: unknown, cancellation = new Cancellation()): Task {
    const { sessionId, era } = context.caller;
    const tool = context.message.name;
    const task = this.#store.create({ ownerKey: ownerKeyOf(context), sessionId, era, ttlMs, tool, cancellation });
    void task.call.ended.then(context.cancellation.outlive((why) => cancellation.withdraw(why)));
    const { calls } = this.#options;
    const counted = calls?.addLasting(cancellation);
    if (counted !== undefined) void task.call.ended.then(() => calls?.remove(counted, cancellation));
    return task;
  }

  #follow(task: Task, answering: Promise<ToolResult>): void {
    answering.then(
      (result) => task.call.finish({ kind: 'result', result }),
      (error: unknown) => task.call.finish({ kind: 'error', error }),
    );
    void task.call.ended.then(() => {
      const { emit } = this.#options;
      emit({ method: taskEvent, params: toDetailedTask(task) });
      emit({ method: 'notifications/tasks/status', params: toLegacyTask(task), sessionId: task.sessionId });
    });
  }

  async #answer(context: Context): Answer {
    const isModern = context.caller.era === 'modern';
    if (isModern) assertDeclared(context);
    const ownerKey = ownerKeyOf(context);
    const { taskId, cursor } = context.message;
    const { era, sessionId } = context.caller;
    const ofServer = this.#ofServers?.find(taskId, { ownerKey, era, sessionId });
    if (ofServer !== undefined && context.method !== 'tasks/list') {
      if (context.method === 'tasks/cancel' && !isOwn(ofServer, context)) throw notOwn('');
      return answer(await (this.#ofServers as ServerTasks).request(ofServer, isModern ? withTasks(context) : context));
    }
    switch (context.method) {
      case 'tasks/get': {
        const task = this.#store.find(taskId, ownerKey);
        return answer(isModern ? toDetailedTask(task) : toLegacyTask(task));
      }
      case 'tasks/cancel':
        return answer(this.#cancel(this.#store.find(taskId, ownerKey), context));
      case 'tasks/update':
        // Nothing that a run could ask an agent for: what is not asked is ignored.
        this.#store.find(taskId, ownerKey);
        return answer({});
      case 'tasks/result':
        return answer(await toResult(this.#store.find(taskId, ownerKey), context));
      default: {
        // Who is nobody in particular sees what began in the same session.
        const isAnonymous = context.caller.principal?.kind === 'anonymous';
        const { tasks, nextCursor } = this.#store.list(ownerKey, cursor, isAnonymous ? context.caller.sessionId : undefined);
        // Those of servers come with the first page.
        const others = cursor === undefined && !isAnonymous ? ((await this.#ofServers?.list(ownerKey, context)) ?? []) : [];
        const listed = [...tasks.map(toLegacyTask), ...others];
        return answer({ tasks: listed, ...(nextCursor === undefined ? {} : { nextCursor }) });
      }
    }
  }

  #cancel(task: Task, context: Context): JsonObject {
    const isModern = context.caller.era === 'modern';
    if (!task.call.hasEnded && !isOwn(task, context)) throw notOwn(' interrupt_run ends its run, for who holds the notebook.');
    if (task.call.hasEnded && !isModern)
      throw new BridgeError('bad_params', `The task has ended already, with the status ${quote(toLegacyTask(task).status)}.`);
    task.call.finish({ kind: 'cancelled' });
    task.cancellation.cancel('tasks/cancel');
    return isModern ? {} : toLegacyTask(task);
  }

  /** Of the tasks that an agent would listen to, its own. */
  #listen(context: Context, callNext: CallNext<JsonObject, JsonObject>): Answer {
    const asked = context.message.notifications;
    if (!isJsonObject(asked) || !Array.isArray(asked.taskIds)) return callNext(context);
    assertDeclared(context);
    const ownerKey = ownerKeyOf(context);
    const { era, sessionId } = context.caller;
    const named = new Set(asked.taskIds);
    const ofServers = [...named].flatMap((id) => this.#ofServers?.find(id, { ownerKey, era, sessionId }) ?? []);
    const taskIds = [...[...named].filter((id) => this.#store.has(id, ownerKey)), ...ofServers.map(({ id }) => id)];
    const stops = ofServers.map((task) => this.#ofServers?.watch(task, withTasks(context)));
    const message = { ...context.message, notifications: { ...asked, taskIds } };
    return callNext(context.copy({ message })).finally(() => {
      for (const stop of stops) stop?.();
    });
  }
}

/** The call, apart from its caller: it goes on when that one is answered. */
function startRun(
  context: MiddlewareContext<ToolCall>,
  callNext: CallNext<ToolCall, ToolResult>,
  cancellation: Cancellation,
): Promise<ToolResult> {
  const { callId, caller, timestamp } = context;
  const { task: _, ...message } = context.message;
  const notify = (method: string, params: JsonObject = {}): void => {
    if (method === 'notifications/progress') context.forwardProgress(params);
  };
  const request = { type: 'request', method: 'tools/call', callId, caller, timestamp, cancellation, notify } as const;
  const toContext = (called: ToolCall): MiddlewareContext => new RequestContext({ ...request, message: called });
  const waiting: ToolCall = { ...message, arguments: { ...message.arguments, wait_seconds: maxWaitSeconds } };
  return followToEnd(waiting, (called) => callNext(toContext(called) as MiddlewareContext<ToolCall>));
}

async function toResult(task: Task, context: Context): Promise<JsonObject> {
  const isEnded = await settlesWithin(task.call.ended, maxWaitSeconds * 1000, context.signal);
  const outcome = task.call.result;
  if (!isEnded || outcome === undefined) throw new BridgeError('cancelled', 'The wait for the task has ended before it.');
  if (outcome.kind === 'error') throw outcome.error;
  if (outcome.kind === 'cancelled') throw new BridgeError('cancelled', 'The task was cancelled.');
  const meta = isJsonObject(outcome.result._meta) ? outcome.result._meta : {};
  return { ...outcome.result, _meta: { ...meta, [relatedTaskKey]: { taskId: task.id } } };
}

/** Sessions of one token are agents each for itself, and only one of them changes and runs. Without sessions they are one. */
function isOwn(task: Pick<Task, 'sessionId' | 'era'>, { caller }: Context): boolean {
  return task.sessionId === caller.sessionId || (task.era === 'modern' && caller.era === 'modern');
}

/** The same request, for whoever asks a server: it is told that its caller takes tasks, since here they become such. */
function withTasks<Params extends JsonObject>(context: MiddlewareContext<Params>): MiddlewareContext<Params> {
  return context.copy({ message: context.message, declares: tasksDeclared });
}

function notOwn(next: string): BridgeError {
  return new BridgeError('bad_params', `The task goes on for another session, which began it.${next}`);
}

function ownerKeyOf({ caller }: Pick<Context, 'caller'>): string {
  return principalKey(caller.principal ?? owner);
}

function canWait({ name, inputSchema }: Tool): boolean {
  return runNames.has(name) && isJsonObject(inputSchema.properties) && 'wait_seconds' in inputSchema.properties;
}

/** Of other tools, what a server says of tasks holds for its own agents, not for ours. */
function withTaskSupport(tool: Tool, isSupported: boolean): Tool {
  const execution = isJsonObject(tool.execution) ? tool.execution : {};
  if (isSupported) return { ...tool, execution: { ...execution, taskSupport: 'optional' } };
  return execution.taskSupport === undefined ? tool : { ...tool, execution: { ...execution, taskSupport: 'forbidden' } };
}

function declaresTasks({ message }: Pick<Context, 'message'>): boolean {
  const meta = isJsonObject(message._meta) ? message._meta : {};
  const capabilities = meta[envelopeKeys.clientCapabilities];
  return isJsonObject(capabilities) && isJsonObject(capabilities.extensions) && isJsonObject(capabilities.extensions[tasksExtension]);
}

function assertDeclared(context: Context): void {
  if (declaresTasks(context)) return;
  throw new BridgeError('missing_capability', `The request does not declare the extension "${tasksExtension}".`, {
    data: { requiredCapabilities: tasksDeclared },
  });
}
