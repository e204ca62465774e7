import type { Caller, TraceHeaders } from '@notebridge/protocol/core/call-context';
import type { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError, RemoteError } from '@notebridge/protocol/core/errors';
import { owner } from '@notebridge/protocol/core/principal';
import type { ProviderEvent } from '@notebridge/protocol/core/provider';
import { RequestContext } from '@notebridge/protocol/core/request-context';
import type { JsonObject } from '@notebridge/protocol/json';
import type { RpcRequest } from '@notebridge/protocol/rpc/messages';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { Hub } from '../../hub.js';
import { identityOf, isLevelWanted } from './legacy-era.js';
import { type Envelope, parseEnvelope, toDiscoverResult, toModernError, toModernResult } from './modern-era.js';

/** One request of the modern era, which says all that there is to know of it. */
export interface ModernCall {
  request: RpcRequest;
  /** Its envelope. */
  meta: JsonObject;
  callId: string;
  cancellation: Cancellation;
  /** The trace of its HTTP request. Left out: none. */
  trace?: TraceHeaders | undefined;
  toCaller: (clientInfo: JsonObject | undefined) => Caller;
  /** Sends the agent what belongs to this request. */
  notify: (method: string, params: JsonObject | undefined) => void;
  /** Notifies listeners of a change that the request caused. */
  notifyListens: (event: ProviderEvent) => void;
  /** Where the request stands while it runs, if it has asked for log lines. */
  logs: ModernLogs;
  /** Serves `subscriptions/listen` with these params; undefined for any other request. */
  listen: ((params: JsonObject) => Promise<JsonObject>) | undefined;
}

/** Answers it. Rejects with what the agent may see; throws `unsupported_version`, `bad_params` or `unknown_method`. */
export function answerModern(hub: Hub, call: ModernCall): Promise<JsonObject> {
  const { method } = call.request;
  const envelope = parseEnvelope(method, call.meta);
  const context = toContext(call, envelope);
  const stop =
    envelope.logLevel === undefined ? undefined : listenToLogs(hub, call, { caller: context.caller, logLevel: envelope.logLevel });
  return requestModern(hub, context, call.listen).then(
    (result) => {
      stop?.();
      return toModernResult(method, result, hub);
    },
    (error: unknown) => {
      stop?.();
      throw toModernError(method, error);
    },
  );
}

/** Log lines for this request, while it runs. Servers that have one level for all are told it, too. Returns what is to be done when it ends. */
function listenToLogs(hub: Hub, { callId, logs, notify }: ModernCall, asked: { caller: Caller; logLevel: string }): () => void {
  const stop = logs.add(callId, { ...asked, notify });
  const forget = hub.logLevels.setForRequest(asked.caller.sessionId, callId, asked.logLevel);
  return () => {
    stop();
    forget();
  };
}

/** How the context of a message of the modern era notifies. */
export function toModernNotify({
  notify,
  notifyListens,
  logLevel,
}: Pick<ModernCall, 'notify' | 'notifyListens'> & { logLevel?: string | undefined }): (method: string, params?: JsonObject) => void {
  return (method, params) => {
    // Changes go to who listens, whoever caused them.
    if (method.endsWith('/list_changed')) notifyListens(params === undefined ? { method } : { method, params });
    // Log lines go to requests that asked for them.
    else if (method !== 'notifications/message' || (logLevel !== undefined && isLevelWanted(params?.level, logLevel)))
      notify(method, params);
  };
}

/** Hands a notification of an agent to the hub. Never rejects. */
export async function passNotification(hub: Hub, context: RequestContext): Promise<void> {
  const { method } = context;
  try {
    // What ends at this border is not the providers' business.
    await (method === 'notifications/initialized' ? hub.request(context, async () => ({})) : hub.notify(context));
  } catch (error) {
    hub.logger.warn('A notification of the agent failed.', { method, error: messageOf(error) });
  }
}

/** What an agent may see of an error: one that nobody expected is recorded, and told by the id of its call alone. */
export function toVisibleError(error: unknown, { hub, callId, method }: { hub: Hub; callId: string; method: string }): Error {
  if (error instanceof BridgeError || error instanceof RemoteError) return error;
  hub.logger.error('A call failed unexpectedly.', {
    call_id: callId,
    method,
    error: error instanceof Error ? error.stack : String(error),
  });
  return new BridgeError('internal', 'Internal error', { data: { call_id: callId } });
}

function requestModern(hub: Hub, context: RequestContext, listen: ModernCall['listen']): Promise<JsonObject> {
  if (context.method === 'server/discover')
    return hub.request(context, async () => toDiscoverResult(identityOf(hub, context.caller.principal)));
  if (listen !== undefined) return hub.request(context, (inner) => listen(inner.message));
  return hub.request(context);
}

function toContext(
  { request, callId, cancellation, trace, toCaller, notify, notifyListens }: ModernCall,
  { clientInfo, logLevel, askable }: Envelope,
): RequestContext {
  const { method, params: message = {} } = request;
  return new RequestContext({
    type: 'request',
    method,
    message,
    callId,
    cancellation,
    trace,
    caller: toCaller(clientInfo),
    notify: toModernNotify({ notify, notifyListens, logLevel }),
    asker: askable && { clientCapabilities: askable },
  });
}

interface Listener {
  caller: Caller;
  logLevel: string;
  notify: (method: string, params: ProviderEvent['params']) => void;
}

/** Requests of the modern era that run and have asked for log lines: these are sent beside their answer, and nowhere else. */
export class ModernLogs {
  readonly #listeners = new Map<string, Listener>();

  /** Returns what is to be done when the request ends. */
  add(callId: string, listener: Listener): () => void {
    this.#listeners.set(callId, listener);
    return () => void this.#listeners.delete(callId);
  }

  /** Sends a line of a server to the requests that run there, as far as they may see lines that concern no one call. */
  pass(event: ProviderEvent, hub: Hub): void {
    if (this.#listeners.size === 0 || event.method !== 'notifications/message') return;
    for (const callId of event.callIds ?? []) {
      const listener = this.#listeners.get(callId);
      if (listener === undefined || !isLevelWanted(event.params?.level, listener.logLevel)) continue;
      const { sessionId, principal = owner } = listener.caller;
      if ((event.sessionId ?? sessionId) === sessionId && hub.mayHear(principal, event)) listener.notify(event.method, event.params);
    }
  }
}
