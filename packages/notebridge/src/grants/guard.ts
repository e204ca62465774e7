import { toPrivateResult } from '@notebridge/protocol/core/cache-hints';
import type { CallContext } from '@notebridge/protocol/core/call-context';
import type { CallObserver } from '@notebridge/protocol/core/call-observer';
import { BridgeError, codeOf, RemoteError } from '@notebridge/protocol/core/errors';
import { errorCodeMetaKey, type Tool } from '@notebridge/protocol/core/mcp';
import { type Answered, answer, type CallNext, type Middleware, type MiddlewareContext } from '@notebridge/protocol/core/middleware';
import { owner, type Principal } from '@notebridge/protocol/core/principal';
import { codeModeServer, type ToolAddress } from '@notebridge/protocol/core/tool-address';
import { type WhileLive, workWhileLive } from '@notebridge/protocol/core/while-live';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { roughSizeOf } from '@notebridge/protocol/rpc/rough-size';
import { quote } from '@notebridge/protocol/util/quote';
import type { Admission, Rights } from './admission.js';
import type { Approvals, Approved, StillAsked } from './approvals/approvals.js';
import type { ApprovedBy, AuditEntry } from './audit-line.js';
import type { AuditLog } from './audit-log.js';
import type { Ticket } from './bounds.js';
import { isAuditedForAll, type MethodRule, methodRules, notebookServer, type WhatIsNamed } from './guarded-methods.js';

/** How the guard learns what a name of the agents' doors stands for. */
export interface GuardOptions {
  admission: Admission;
  /** Left out: no audit. */
  audit?: AuditLog | undefined;
  /** Left out: nobody looks at calls while they run. */
  observer?: CallObserver | undefined;
  /** Left out: a grant ends with the next call. */
  whileLive?: WhileLive | undefined;
  /** What a message waits for before it is judged, such as the grants. Undefined: nothing. Left out: nothing ever. */
  opening?: ((context: CallContext) => Promise<void> | undefined) | undefined;
  /** Left out: nobody is asked before a call. */
  approvals?: Approvals | undefined;
  /**
   * The server and tool that an exposed tool name stands for; undefined for the notebook's own tools. It must know every name that is
   * routed to a server: one that it does not know is held to be the notebook's.
   */
  resolve: (name: string) => ToolAddress | undefined;
  /**
   * Finds out what a name stands for that `resolve` may not know yet; undefined if there is nothing to find out. Asked only for grants,
   * and where a person may have to approve the call.
   */
  learn?: ((name: string, context: CallContext) => Promise<void> | undefined) | undefined;
  /** The tool with its annotations. Asked only for read-only grants and for approvals; a tool that is not found counts as one that writes. */
  findTool: (address: ToolAddress, context: CallContext) => Tool | undefined | Promise<Tool | undefined>;
  /** The server of a resource (by URI) or prompt (by name); undefined if that is not known: then only a grant for `*:*` reaches it. */
  serverOf?: ((kind: WhatIsNamed, name: string) => string | undefined) | undefined;
}

/**
 * A layer that has `onMessage` and nothing else. That hook wraps every message, so a method or hook of the future cannot pass beside
 * it, and code that wraps a guard has one function to hand on; a guard with another hook does not compile.
 */
export type Guard = Middleware &
  Required<Pick<Middleware, 'name' | 'onMessage'>> & {
    readonly [Other in Exclude<Extract<keyof Middleware, `on${string}`>, 'onMessage'>]?: never;
  };

interface Step {
  context: MiddlewareContext;
  callNext: CallNext<JsonObject, JsonObject>;
  principal: Principal;
  /** True for principals that may do everything. */
  isFree: boolean;
}
type RuleOf<Kind extends MethodRule['kind']> = Extract<MethodRule, { kind: Kind }>;

/**
 * The outermost layer: holds every message to the grant of its caller, has a person asked where the config says so, and records each
 * call in the audit. The owner is held to nothing, but asked as well. `tools/list` shows what may be called. Resources and prompts of a
 * server belong to grants that allow all of its tools (`github:*`). What it does not know is refused to all but the owner, whatever they
 * may call.
 */
export function createGuard(options: GuardOptions): Guard {
  const check: Guard['onMessage'] = (context, callNext) => {
    try {
      const rule = methodRules[context.type].get(context.method);
      const { principal = owner } = context.caller;
      const isFree = principal.kind !== 'grant';
      const step = { context, callNext, principal, isFree };
      const { whileLive } = options;
      if (whileLive === undefined || context.type !== 'request' || isFree) return judge(step, rule, options);
      return workWhileLive(whileLive, { principal, cancellation: context.cancellation }, () => judge(step, rule, options));
    } catch (error) {
      return refuse(context, error, options);
    }
  };
  return {
    name: 'guard',
    onMessage: (context, callNext) => {
      const opening = options.opening?.(context);
      return opening === undefined ? check(context, callNext) : opening.then(() => check(context, callNext));
    },
  };
}

/** Not async: every call goes through here. Throws what the admission refuses before anything was begun. */
function judge(step: Step, rule: MethodRule | undefined, options: GuardOptions): Promise<Answered<JsonObject>> {
  const { context, callNext, principal } = step;
  switch (rule?.kind) {
    case 'call':
      return callTool(step, options);
    case 'item':
      return requestItem(step, rule, options);
    case 'tools':
      return listTools(step, options);
    case 'list':
      return listItems(step, rule, options);
    case 'everything':
      options.admission.rightsOf(principal).assertWhole(undefined);
      return callNext(context);
    case 'free':
      options.admission.rightsOf(principal).assertLive();
      return callNext(context);
    case undefined:
      if (principal.kind !== 'owner') throw unknownMethod(context);
      return callNext(context);
  }
}

function callTool({ context, callNext, principal, isFree }: Step, options: GuardOptions): Promise<Answered<JsonObject>> {
  const { name, arguments: args } = context.message;
  const { target } = context;
  const { admission, approvals: all, findTool } = options;
  const approvals = all?.isOn === true ? all : undefined;
  const isPassed = isFree && approvals === undefined;
  // No grant says what such a name would allow. The owner's goes on as it is: what a page answers to it is the page's affair.
  if (!isFree && target === undefined && typeof name !== 'string') throw new BridgeError('unknown_tool', `Unknown tool: ${quote(name)}.`);
  const call = (): Promise<Answered<JsonObject>> => {
    const address = target ?? addressOf(name, options);
    const aimed = target === undefined ? toAimed(context, address) : context;
    const find = (): ReturnType<typeof findTool> => findTool(address, aimed);
    const rights = isFree ? undefined : admission.rightsOf(principal);
    const admit = rights && (() => rights.admit(address, find));
    const approve = approvals && (() => approvals.ask(aimed, address, find));
    const admitAgain = isFree ? undefined : () => admission.rightsOf(principal).assertTool(address, find);
    // Lists may have changed while it was admitted, and with them what the name stands for.
    const callAdmitted: typeof callNext = (admitted) => {
      const now = addressOf(name, options);
      const isSame = now.server === address.server && (now.tool === address.tool || address.tool === '');
      if (isSame) return callNext(admitted);
      throw new BridgeError('denied', `Denied: ${quote(name)} stands for another tool since it was called. Call it again.`);
    };
    const passOn = isPassed || target !== undefined ? callNext : callAdmitted;
    return run({ context: aimed, callNext: passOn, address, args, rights, admit, approve, admitAgain }, options);
  };
  const learning = isPassed || target !== undefined ? undefined : options.learn?.(typeof name === 'string' ? name : '', context);
  return learning === undefined ? call() : learning.then(call);
}

/** The call with what its name stands for, so that nobody further in looks that up again. The notebook's own tools and code mode's go by their name. */
function toAimed(context: MiddlewareContext, address: ToolAddress): MiddlewareContext {
  const isOfServer = address.tool !== '' && address.server !== notebookServer && address.server !== codeModeServer;
  return isOfServer ? context.copy({ message: context.message, target: address }) : context;
}

function requestItem(
  { context, callNext, principal, isFree }: Step,
  rule: RuleOf<'item'>,
  options: GuardOptions,
): Promise<Answered<JsonObject>> {
  if (isFree && !isAuditedForAll(context)) return callNext(context);
  const about = rule.nameIn(context.message);
  const server = about === undefined ? undefined : options.serverOf?.(about.kind, about.name);
  const address = server === undefined ? undefined : { server, tool: '' };
  const rights = isFree ? undefined : options.admission.rightsOf(principal);
  const admit = rights && (() => rights.admitWhole(server));
  const answered = run({ context, callNext, address, args: context.message, rights, admit }, options);
  return isFree ? answered : answered.then(toPrivateResult);
}

function listTools(step: Step, options: GuardOptions): Promise<Answered<JsonObject>> {
  return showAllowed(step, 'tools', options, (tool, rights) => {
    return isJsonObject(tool) && rights.mayList(addressOf(tool.name, options), tool as Tool);
  });
}

function listItems(step: Step, { about, items, key }: RuleOf<'list'>, options: GuardOptions): Promise<Answered<JsonObject>> {
  return showAllowed(step, items, options, (item, rights) => {
    const name = isJsonObject(item) ? item[key] : undefined;
    return rights.mayListWhole(typeof name === 'string' ? options.serverOf?.(about, name) : undefined);
  });
}

/** Has the list made, and leaves out of it what a grant may not use. */
function showAllowed(
  { context, callNext, principal, isFree }: Step,
  items: string,
  { admission }: GuardOptions,
  maySee: (item: unknown, rights: Rights) => boolean,
): Promise<Answered<JsonObject>> {
  if (isFree) return callNext(context);
  admission.rightsOf(principal).assertLive();
  return callNext(context).then((result) => {
    const listed = result[items];
    if (!Array.isArray(listed)) return result;
    const rights = admission.rightsOf(principal);
    return toPrivateResult({ ...result, [items]: listed.filter((item) => maySee(item, rights)) });
  });
}

/** Records what was refused before it began as well. */
function refuse(context: MiddlewareContext, error: unknown, { admission, audit, observer }: GuardOptions): Promise<never> {
  const { method, message, caller } = context;
  const outcome = codeOf(error) ?? 'internal';
  const who = namesOf(admission.rightsOf(caller.principal ?? owner));
  const call = { context, address: undefined, args: message };
  if (observer?.isOn === true) observer.begin({ ...call, label: who.label })(outcome, undefined, toldOf(error));
  audit?.add({ ...call, method, result: undefined, outcome, durationMs: 0, endedAt: Date.now(), ...who });
  return Promise.reject(error);
}

/** How the audit names a grant, and those behind it. */
function namesOf({ label, behind: onBehalfOf }: Rights): Pick<AuditEntry, 'label' | 'onBehalfOf'> {
  return { label, onBehalfOf };
}

function unknownMethod({ caller, method }: MiddlewareContext): BridgeError {
  const { principal } = caller;
  const data = { rule: 'method', ...(principal?.kind === 'grant' ? { grant_id: principal.grantId } : {}) };
  return new BridgeError('denied', `Denied: only the owner may send ${quote(method)}, since no grant says what it would allow.`, { data });
}

function addressOf(name: unknown, { resolve }: GuardOptions): ToolAddress {
  const tool = typeof name === 'string' ? name : '';
  return resolve(tool) ?? { server: notebookServer, tool };
}

interface Run {
  context: MiddlewareContext;
  callNext: CallNext<JsonObject, JsonObject>;
  address: ToolAddress | undefined;
  args: unknown;
  /** Undefined: everything. */
  rights: Rights | undefined;
  /** Undefined: nothing to ask. */
  admit: (() => Ticket | Promise<Ticket>) | undefined;
  /** Asks a person, after the ticket was given. Undefined: nobody needs to be asked. */
  approve?: (() => Promise<Approved | StillAsked | undefined> | undefined) | undefined;
  /** Throws if the rights have gone while the person was asked. */
  admitAgain?: (() => void | Promise<void>) | undefined;
}

/** Admits, asks, calls, releases, and records the call, whatever its outcome. Not async: every call goes through here. */
function run(
  { context, callNext, address, args, rights, admit, approve, admitAgain }: Run,
  { audit, observer }: GuardOptions,
): Promise<Answered<JsonObject>> {
  const isObserved = observer?.isOn === true;
  if (audit === undefined && admit === undefined && approve === undefined && !isObserved) return callNext(context);
  const startedAt = performance.now();
  // Asked now: a grant may have ended by the end of the call.
  const [label, onBehalfOf] = [rights?.label, rights?.behind];
  let ticket: Ticket | undefined;
  let approvedBy: ApprovedBy | undefined;
  let isAsked = false;
  // Where nobody looks on, both are measured when the line of the audit is made.
  const size = isObserved ? roughSizeOf(args) : undefined;
  const endObserved = isObserved ? observer.begin({ context, address, args, size, label }) : undefined;
  const end = (outcome: string, result: unknown, error?: string): void => {
    const sizes = { args: size, result: isObserved && result !== undefined ? roughSizeOf(result) : undefined };
    endObserved?.(outcome, result, error, sizes.result);
    const durationMs = performance.now() - startedAt;
    const { method } = context;
    const call = { context, method, address, args, result, sizes, label, onBehalfOf, approvedBy };
    audit?.add({ ...call, outcome, durationMs, endedAt: Date.now() });
    ticket?.release();
  };
  const succeed = (result: Answered<JsonObject>): Answered<JsonObject> => {
    end(isAsked ? 'asked' : outcomeOf(result), result);
    return result;
  };
  const fail = (error: unknown): never => {
    end(codeOf(error) ?? (error instanceof RemoteError ? 'remote_error' : 'internal'), undefined, toldOf(error));
    throw error;
  };
  const callApproved = async (asked: Promise<Approved | StillAsked | undefined>): Promise<Answered<JsonObject>> => {
    let approved: Approved | StillAsked | undefined;
    try {
      approved = await asked;
      if (approved !== undefined && !('asks' in approved)) await admitAgain?.();
    } catch (error) {
      ticket?.undo();
      throw error;
    }
    if (approved === undefined) return callNext(context);
    if ('asks' in approved) {
      isAsked = true;
      ticket?.undo();
      return answer(approved.asks);
    }
    approvedBy = approved.by;
    return answer(approved.toAnswer(await callNext(approved.context)));
  };
  const callWith = (admitted: Ticket | undefined): Promise<Answered<JsonObject>> => {
    ticket = admitted;
    const asked = approve?.();
    return asked === undefined ? callNext(context) : callApproved(asked);
  };
  try {
    const admitted = admit?.();
    const called = admitted instanceof Promise ? admitted.then(callWith) : callWith(admitted);
    return called.then(succeed, fail);
  } catch (error) {
    return new Promise(() => fail(error));
  }
}

/** What the caller is told; of a fault of ours nothing. */
function toldOf(error: unknown): string | undefined {
  return error instanceof BridgeError || error instanceof RemoteError ? error.message : undefined;
}

function outcomeOf(result: JsonObject): string {
  if (result.isError !== true) return 'ok';
  const code = isJsonObject(result._meta) ? result._meta[errorCodeMetaKey] : undefined;
  return typeof code === 'string' ? code : 'tool_error';
}
