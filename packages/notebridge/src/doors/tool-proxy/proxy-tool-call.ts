import type { ParentCall, TraceHeaders } from '@notebridge/protocol/core/call-context';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError, RemoteError } from '@notebridge/protocol/core/errors';
import type { MayList } from '@notebridge/protocol/core/may-list';
import type { ToolResult } from '@notebridge/protocol/core/mcp';
import type { MiddlewareContext } from '@notebridge/protocol/core/middleware';
import { owner, type Principal } from '@notebridge/protocol/core/principal';
import type { Asker } from '@notebridge/protocol/core/questions';
import { RequestContext } from '@notebridge/protocol/core/request-context';
import type { ToolAddress } from '@notebridge/protocol/core/tool-address';
import type { ToolServer, ToolServers } from '@notebridge/protocol/core/tool-server';
import { workWhileLive } from '@notebridge/protocol/core/while-live';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { quote } from '@notebridge/protocol/util/quote';
import type { ToolNames } from '../../catalog/tool-names.js';
import { parseBody } from '../http/read-body.js';
import { type Refusal, refuse } from '../http/refusal.js';
import { type CallAnswer, failedAnswer, type ToolCallResponse, toAnswer } from './to-answer.js';
import { findServer, searchAddress, type ToolProxy } from './tool-proxy-context.js';

/** The body of a call. */
export interface ToolCallRequest {
  /** The arguments of the tool. */
  arguments: JsonObject;
}

/** Reads the body of a call: `{"arguments": {…}}`, other members are ignored. */
export function parseCallBody(text: string): ToolCallRequest | Refusal {
  const body = parseBody(text);
  if (!('value' in body)) return body;
  const { value } = body;
  // In the form that the reference's framework gives to what is wrong in a request.
  const wrong = ([type, msg]: readonly [string, string], loc: string[], input: unknown): Refusal =>
    refuse(422, [{ type, loc, msg, input: text.length > longestShownBody ? undefined : input }]);
  if (!isJsonObject(value)) return wrong(notAModel, ['body'], value);
  const { arguments: args } = value;
  if (args === undefined) return wrong(missing, ['body', 'arguments'], value);
  return isJsonObject(args) ? { arguments: args } : wrong(notADictionary, ['body', 'arguments'], args);
}

/** Bodies up to this many characters are shown in faults; it also bounds how deeply they are nested. */
const longestShownBody = 2000;

const missing = ['missing', 'Field required'] as const;
const notAModel = ['model_attributes_type', 'Input should be a valid dictionary or object to extract fields from'] as const;
const notADictionary = ['dict_type', 'Input should be a valid dictionary'] as const;

/** What may come with a call beside its arguments. */
export interface ToolCallOptions {
  /** On whose behalf. Default: the owner. */
  principal?: Principal | undefined;
  cancellation?: Cancellation | undefined;
  callId?: string | undefined;
  /** When it began, by the clock of the proxy. Default: now. */
  startedAt?: number | undefined;
  /** The call in whose course the code runs that makes this one. */
  parent?: ParentCall | undefined;
  /** The trace of its HTTP request. Left out: none. */
  trace?: TraceHeaders | undefined;
  /** The owner has typed it. Default false. */
  isTyped?: boolean | undefined;
  /** Receives progress and log lines of the tool while it runs; left out, the server is not asked for progress. */
  onEvent?: ((method: string, params: JsonObject) => void) | undefined;
  /** How a server asks the caller in the middle of the call. Left out: it asks nobody. */
  asker?: Asker | undefined;
}

/**
 * Calls a tool of a server, through the hub's chain. Resolves with whatever the tool or the chain answers, failures included.
 *
 * @throws BridgeError `unknown_server`, `bad_grant`, and `budget_exhausted`, `limit_reached` or `cluster_unavailable` where waiting helps
 *   (`data.retry_after_s`); what was not expected is thrown as it is.
 */
export function proxyToolCall(
  proxy: ToolProxy,
  address: ToolAddress,
  request: ToolCallRequest & ToolCallOptions,
): Promise<ToolCallResponse> {
  const { principal = owner, callId = proxy.nextCallId(), startedAt = proxy.now() } = request;
  if (address.server === searchAddress.server) return searchTools(proxy, request, { principal, callId });
  const server = findServer(proxy.servers, address.server);
  if (server === undefined) return refuseUnknown(proxy, address, request, { principal, callId });
  const finish = (answer: CallAnswer): ToolCallResponse =>
    Object.assign(answer, { call_id: callId, duration_ms: Math.round((proxy.now() - startedAt) * 10) / 10 });
  const fail = (error: unknown): ToolCallResponse => finish(toFailure(error, server, address.tool));
  const succeed = (result: unknown): ToolCallResponse => {
    try {
      const answer = toAnswer(isJsonObject(result) ? result : {});
      if (answer.error_code === 'skills_failed') return finish(failedAnswer(answer.error_code, String(answer.error)));
      if (!answer.is_error || !lacksTool(server, address.tool)) return finish(answer);
      return finish({ ...answer, is_error: false, error_code: 'tool_not_found', result: null });
    } catch (error) {
      return fail(error);
    }
  };
  try {
    return proxy.hub.request(toContext(proxy, address, request, { principal, callId }), proxy.terminal).then(succeed, fail);
  } catch (error) {
    return new Promise((resolve) => resolve(fail(error)));
  }
}

async function searchTools(
  proxy: ToolProxy,
  { arguments: params, cancellation = new Cancellation() }: ToolCallRequest & ToolCallOptions,
  { principal, callId }: { principal: Principal; callId: string },
): Promise<ToolCallResponse> {
  const startedAt = proxy.now();
  const search = (): Promise<ToolResult> => proxy.search(params, { principal, signal: cancellation.signal });
  const answer = toAnswer(await workWhileLive(proxy.hub.whileLive, { principal, cancellation }, search));
  return Object.assign(answer, { call_id: callId, duration_ms: Math.round((proxy.now() - startedAt) * 10) / 10 });
}

/**
 * The last step of a call's way through the chain. One function for all calls: it reads the target off the context, or what the name
 * stands for that a middleware has put there.
 */
export function callTarget(servers: ToolServers, names: ToolNames): (context: MiddlewareContext) => Promise<JsonObject> {
  return (context) => {
    const { name } = context.message;
    const target = context.target ?? names.resolve(String(name));
    if (target === undefined) throw new BridgeError('unknown_tool', `Unknown tool: ${quote(name)}.`);
    const server = findServer(servers, target.server);
    if (server === undefined)
      throw new BridgeError('upstream_unavailable', 'The server was taken out of the config while the call was on its way.');
    return server.request('tools/call', { ...context.message, name: target.tool }, context);
  };
}

/**
 * A call of a server that is not there. Of a grant it goes through the chain all the same: whether there is a server is told only to who
 * may call it, and what was refused is in the audit.
 */
async function refuseUnknown(
  proxy: ToolProxy,
  address: ToolAddress,
  request: ToolCallRequest & ToolCallOptions,
  who: { principal: Principal; callId: string },
): Promise<ToolCallResponse> {
  const startedAt = proxy.now();
  const { principal, callId } = who;
  const unknown = (): BridgeError => unknownServer(proxy, address.server, principal);
  if (principal.kind !== 'grant') throw unknown();
  try {
    await proxy.hub.request(toContext(proxy, address, request, who), () => Promise.reject(unknown()));
  } catch (error) {
    if (!(error instanceof BridgeError) || error.code !== 'denied') throw error;
    const duration_ms = Math.round((proxy.now() - startedAt) * 10) / 10;
    return { ...failedAnswer(error.code, error.message), call_id: callId, duration_ms };
  }
  throw unknown();
}

const ignoreEvent = (): void => {};

function toContext(
  proxy: ToolProxy,
  target: ToolAddress,
  call: ToolCallRequest & ToolCallOptions,
  { principal, callId }: { principal: Principal; callId: string },
): RequestContext {
  const { onEvent, parent } = call;
  const caller = proxy.callerOf(principal);
  const name = proxy.names.nameOf(target);
  return new RequestContext({
    method: 'tools/call',
    type: 'request',
    message:
      onEvent === undefined ? { name, arguments: call.arguments } : { name, arguments: call.arguments, _meta: { progressToken: callId } },
    callId,
    // Code that runs in the course of an agent's call has the agent's own instance of a server that has one for each.
    caller: parent?.caller === undefined ? caller : { ...caller, sessionId: parent.caller.sessionId },
    parent,
    isTyped: call.isTyped,
    cancellation: call.cancellation ?? new Cancellation(),
    target,
    trace: call.trace,
    notify: onEvent === undefined ? ignoreEvent : (method, params = {}) => onEvent(method, params),
    asker: call.asker,
    requestId: callId,
  });
}

/** The codes that this door spells as its reference does. */
const spelled: { [code: string]: string } = { unknown_tool: 'tool_not_found', bad_params: 'invalid_arguments' };

/** With a time in their data, that is. */
const helpsToWait: ReadonlySet<string> = new Set(['budget_exhausted', 'limit_reached', 'cluster_unavailable']);

/** What becomes an answer; everything else is thrown on, for the border to HTTP. */
function toFailure(error: unknown, server: ToolServer, tool: string): CallAnswer {
  if (error instanceof RemoteError) return toRemoteFailure(error, server, tool);
  if (!(error instanceof BridgeError)) throw error;
  const { code, data } = error;
  const isForBorder = code === 'bad_grant' || code === 'internal' || (helpsToWait.has(code) && 'retry_after_s' in data);
  if (isForBorder) throw error;
  return failedAnswer(spelled[code] ?? code, error.message);
}

/** A server says by a protocol error that it has no such tool (also -32601: no tools at all), or did not like the arguments. */
function toRemoteFailure(error: RemoteError, server: ToolServer, tool: string): CallAnswer {
  const { data } = error.raw;
  return { ...toKnownFailure(error, server, tool), ...(data !== undefined && { error_data: data }) };
}

function toKnownFailure(error: RemoteError, server: ToolServer, tool: string): CallAnswer {
  const code = Number(error.raw.code);
  if (code === -32601 || lacksTool(server, tool)) return failedAnswer('tool_not_found', error.message);
  if (code === -32602) return failedAnswer('invalid_arguments', error.message);
  return { success: false, result: error.message, error: error.message, is_error: true, meta: null, error_code: null };
}

/** True if the server has listed its tools and this is none of them: some answer a call of it like a tool that failed. */
function lacksTool({ knownTools }: ToolServer, tool: string): boolean {
  return knownTools !== undefined && !knownTools.some(({ name }) => name === tool);
}

function unknownServer(proxy: ToolProxy, name: string, principal: Principal): BridgeError {
  if (name === 'skills')
    return new BridgeError('unknown_server', 'Skills proxy caller not registered — skills are not enabled for this agent.');
  const mayList = proxy.listerOf(principal);
  const available = proxy.servers
    .all()
    .filter((server) => findServer(proxy.servers, server.name) !== undefined && isListed(server, mayList))
    .map((server) => `'${server.name}'`);
  const shown = name.length > 80 ? `${name.slice(0, 80)}…` : name;
  return new BridgeError('unknown_server', `MCP server '${shown}' is not running. Available servers: [${available.join(', ')}]`);
}

/** True if a principal may know of the server: it may call one of its tools. */
export function isListed({ name, knownTools }: ToolServer, mayList: MayList): boolean {
  if (knownTools === undefined || knownTools.length === 0) return mayList(name, undefined);
  return knownTools.some((tool) => mayList(name, tool));
}

/** What went wrong, for a stream that has begun and cannot have a status any more. */
export function lateFailure(error: unknown): CallAnswer {
  return error instanceof BridgeError && error.code !== 'internal'
    ? failedAnswer(spelled[error.code] ?? error.code, messageOf(error))
    : failedAnswer('internal', 'Internal error');
}
