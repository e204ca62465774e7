import type { CallContext } from '../core/call-context.js';
import { codeOf, RemoteError } from '../core/errors.js';
import { errorCodeMetaKey, type Tool } from '../core/mcp.js';
import type { Answered, CallNext, Middleware, MiddlewareContext } from '../core/middleware.js';
import { owner, type Principal } from '../core/principal.js';
import type { ToolAddress } from '../core/tool-address.js';
import { isJsonObject, type JsonObject } from '../util/json.js';
import type { Admission, Ticket } from './admission.js';
import type { AuditLog } from './audit-log.js';
import { freeMethods, listedItems, notebookServer, serverRequests, type WhatIsNamed } from './guarded-methods.js';

/** How the guard learns what a name of the agents' doors stands for. */
export interface GuardOptions {
  admission: Admission;
  /** Left out: no audit. */
  audit?: AuditLog | undefined;
  /**
   * The server and tool that an exposed tool name stands for; undefined for the notebook's own tools. It must know every name that is
   * routed to a server: one that it does not know is held to be the notebook's.
   */
  resolve: (name: string) => ToolAddress | undefined;
  /** Finds out what a name stands for that `resolve` may not know yet; undefined if there is nothing to find out. Asked only for grants. */
  learn?: ((name: string, context: CallContext) => Promise<void> | undefined) | undefined;
  /** The tool with its annotations. Asked only for read-only grants; a tool that is not found counts as one that writes. */
  findTool: (address: ToolAddress, context: CallContext) => Tool | undefined | Promise<Tool | undefined>;
  /** The server of a resource (by URI) or prompt (by name); undefined if that is not known: then only a grant for `*:*` reaches it. */
  serverOf?: ((kind: WhatIsNamed, name: string) => string | undefined) | undefined;
}

/**
 * The outermost layer: holds every request to the grant of its caller and takes each call down in the audit. For the owner it does
 * no more than the audit. `tools/list` shows what may be called. Resources and prompts of a server belong to grants that allow all of
 * its tools (`github:*`); requests that we do not know need a grant for `*:*`.
 */
export function createGuard(options: GuardOptions): Middleware {
  const { admission, audit, resolve } = options;
  const addressOf = (name: unknown): ToolAddress => {
    const tool = typeof name === 'string' ? name : '';
    return resolve(tool) ?? { server: notebookServer, tool };
  };

  return {
    name: 'guard',
    keepsResults: true,

    onCallTool(context, callNext) {
      const { name, arguments: args } = context.message;
      const isFree = isUnbound(context);
      const call = (): ReturnType<typeof callNext> => {
        const address = context.target ?? addressOf(name);
        const admit = isFree ? undefined : () => admitTool(context, address, options);
        return run({ context, callNext, address, admit, args }, options);
      };
      const learning = isFree || context.target !== undefined ? undefined : options.learn?.(name, context);
      return learning === undefined ? call() : learning.then(call);
    },

    async onListTools(context, callNext) {
      const result = await callNext(context);
      if (isUnbound(context)) return result;
      const principal = principalOf(context);
      admission.assertLive(principal);
      return {
        ...result,
        tools: result.tools.filter((tool) => admission.mayList(principal, context.target ?? addressOf(tool.name), tool)),
      };
    },

    onRequest(context, callNext) {
      const { method } = context;
      // They have hooks of their own.
      if (method === 'tools/call' || method === 'tools/list') return callNext(context);
      const named = Object.hasOwn(serverRequests, method) ? serverRequests[method] : undefined;
      if (isUnbound(context) && (named?.isAudited !== true || audit === undefined)) return callNext(context);
      const principal = principalOf(context);
      if (freeMethods.has(method)) {
        admission.assertLive(principal);
        return callNext(context);
      }
      if (Object.hasOwn(listedItems, method)) return listFor(principal, { context, callNext }, options);
      const about = named?.nameIn(context.message);
      const server = about === undefined ? undefined : options.serverOf?.(about.kind, about.name);
      const address = server === undefined ? undefined : { server, tool: '' };
      const admit = isUnbound(context) ? undefined : () => admission.admitWhole(principal, server);
      return run({ context, callNext, address, admit, args: context.message }, options);
    },
  };
}

function principalOf({ caller }: CallContext): Principal {
  return caller.principal ?? owner;
}

/** True for who may do everything. */
function isUnbound(context: CallContext): boolean {
  return principalOf(context).kind !== 'grant';
}

function admitTool(context: CallContext, address: ToolAddress, { admission, findTool }: GuardOptions): Ticket | Promise<Ticket> {
  const principal = principalOf(context);
  // A look at its list may start the server; who may not call it anyway must not cause that.
  if (!admission.needsTool(principal, address)) return admission.admit(principal, address, undefined);
  const found = Promise.resolve(findTool(address, context));
  return found.then((tool) => admission.admit(principal, address, tool));
}

interface Run<Params extends JsonObject, Result extends JsonObject> {
  context: MiddlewareContext<Params>;
  callNext: CallNext<Params, Result>;
  address: ToolAddress | undefined;
  /** Undefined: nothing to ask. */
  admit: (() => Ticket | Promise<Ticket>) | undefined;
  args: unknown;
}

/** Admits, calls, releases, and takes it down, whatever became of it. Not async: every call goes through here. */
function run<Params extends JsonObject, Result extends JsonObject>(
  { context, callNext, address, admit, args }: Run<Params, Result>,
  { admission, audit }: GuardOptions,
): Promise<Answered<Result>> {
  if (audit === undefined && admit === undefined) return callNext(context);
  const startedAt = performance.now();
  const { principal } = context.caller;
  // Asked now: a grant may have ended by the end of the call.
  const label = principal?.kind === 'grant' ? admission.labelOf(principal.grantId) : undefined;
  let ticket: Ticket | undefined;
  const end = (outcome: string, result: unknown): void => {
    const durationMs = performance.now() - startedAt;
    audit?.add({ context, method: context.method, address, args, result, outcome, durationMs, endedAt: Date.now(), label });
    ticket?.release();
  };
  const succeed = (result: Answered<Result>): Answered<Result> => {
    end(outcomeOf(result), result);
    return result;
  };
  const fail = (error: unknown): never => {
    end(codeOf(error) ?? (error instanceof RemoteError ? 'remote_error' : 'internal'), undefined);
    throw error;
  };
  const callWith = (admitted: Ticket | undefined): Promise<Answered<Result>> => {
    ticket = admitted;
    return callNext(context);
  };
  try {
    const admitted = admit?.();
    const called = admitted instanceof Promise ? admitted.then(callWith) : callWith(admitted);
    return called.then(succeed, fail);
  } catch (error) {
    return new Promise(() => fail(error));
  }
}

function outcomeOf(result: JsonObject): string {
  if (result.isError !== true) return 'ok';
  const code = isJsonObject(result._meta) ? result._meta[errorCodeMetaKey] : undefined;
  return typeof code === 'string' ? code : 'tool_error';
}

async function listFor(
  principal: Principal,
  { context, callNext }: { context: MiddlewareContext; callNext: CallNext<JsonObject, JsonObject> },
  { admission, serverOf }: GuardOptions,
): Promise<Answered<JsonObject>> {
  admission.assertLive(principal);
  const { items, kind, key } = listedItems[context.method] ?? { items: '', kind: 'resource', key: '' };
  const result = await callNext(context);
  const listed = result[items];
  if (!Array.isArray(listed)) return result;
  const maySee = (item: unknown): boolean => {
    const name = isJsonObject(item) ? item[key] : undefined;
    return admission.mayListWhole(principal, typeof name === 'string' ? serverOf?.(kind, name) : undefined);
  };
  return { ...result, [items]: listed.filter(maySee) };
}
