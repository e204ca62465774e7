import { isJsonObject, type JsonObject } from '../json.js';
import type { CallContext, Caller, ParentCall, TraceHeaders } from './call-context.js';
import type { Cancellation } from './cancellation.js';
import type { MiddlewareContext } from './middleware.js';
import type { Ask, Asker } from './questions.js';
import type { ToolAddress } from './tool-address.js';

/** The members of a context, which say what they mean there. Where there is a `parent`, its asker is asked in place of `asker`. */
export interface RequestContextOptions
  extends Pick<CallContext, 'callId' | 'caller' | 'parent' | 'isTyped' | 'target' | 'trace' | 'cancellation'>,
    Pick<MiddlewareContext, 'method' | 'type' | 'message'> {
  /** When the message arrived, milliseconds since the epoch. Default: now. */
  timestamp?: number | undefined;
  /** Sends a notification to the caller of this message. */
  notify: (method: string, params?: JsonObject) => void;
  /** How the caller is asked, if it can be. */
  asker?: Asker | undefined;
  /** The caller's own id of the request, for `asker.ask`. */
  requestId?: string | number | undefined;
}

/** A handful of entries on every message: two lists cost a fraction of a `Map`. */
interface MessageState {
  keys: string[];
  values: unknown[];
}

/** The trace of an HTTP request, by its headers. Undefined: it names none. */
export function toTraceHeaders({ traceparent, tracestate }: Readonly<Partial<Record<string, unknown>>>): TraceHeaders | undefined {
  return traceparent === undefined ? undefined : { traceparent, tracestate };
}

/** The context of one message. Made once per message and handed through the whole chain. */
export class RequestContext implements MiddlewareContext {
  readonly method: string;
  readonly type: 'request' | 'notification';
  readonly message: JsonObject;
  readonly callId: string;
  readonly caller: Caller;
  readonly parent: ParentCall | undefined;
  readonly isTyped: boolean;
  readonly cancellation: Cancellation;
  readonly target: ToolAddress | undefined;
  readonly trace: TraceHeaders | undefined;
  readonly timestamp: number;
  /** For copies, and what they share. */
  readonly #options: RequestContextOptions;
  readonly #asker: Asker | undefined;
  #state: MessageState | undefined;

  constructor(options: RequestContextOptions) {
    this.method = options.method;
    this.type = options.type;
    this.message = options.message;
    this.callId = options.callId;
    this.caller = options.caller;
    this.parent = options.parent;
    this.isTyped = options.isTyped === true;
    this.cancellation = options.cancellation;
    this.target = options.target;
    this.trace = options.trace;
    this.timestamp = options.timestamp ?? Date.now();
    this.#options = options;
    this.#asker = options.parent === undefined ? options.asker : options.parent.asker;
  }

  get clientCapabilities(): JsonObject | undefined {
    return this.#asker?.clientCapabilities;
  }

  /** Made when it is needed: most calls ask nothing. */
  get ask(): Ask | undefined {
    const ask = this.#asker?.ask;
    const during = this.parent === undefined ? this.#options.requestId : this.parent.callId;
    if (ask === undefined || during === undefined) return undefined;
    return (question, options) => ask(during, question, options);
  }

  get signal(): AbortSignal {
    return this.cancellation.signal;
  }

  get wantsProgress(): boolean {
    return this.#progressToken !== undefined;
  }

  get #progressToken(): unknown {
    const meta = this.message._meta;
    // Some agents print null for a token that they do not have.
    return isJsonObject(meta) ? (meta.progressToken ?? undefined) : undefined;
  }

  setState(key: string, value: unknown): void {
    this.#state ??= { keys: [], values: [] };
    const { keys, values } = this.#state;
    const at = keys.indexOf(key);
    if (at < 0) values[keys.push(key) - 1] = value;
    else values[at] = value;
  }

  getState(key: string): unknown {
    return this.#state?.values[this.#state.keys.indexOf(key)];
  }

  reportProgress(progress: number, total?: number, message?: string): void {
    this.forwardProgress({ progress, ...(total === undefined ? {} : { total }), ...(message === undefined ? {} : { message }) });
  }

  forwardProgress(params: JsonObject): void {
    const progressToken = this.#progressToken;
    if (progressToken === undefined || this.cancellation.reason !== undefined) return;
    this.#options.notify('notifications/progress', { ...params, progressToken });
  }

  log(level: string, data: unknown, logger?: string): void {
    this.#options.notify('notifications/message', { level, data, ...(logger === undefined ? {} : { logger }) });
  }

  sendToolListChanged(): void {
    this.#options.notify('notifications/tools/list_changed');
  }

  copy({ message, target, declares, toProgress }: Parameters<MiddlewareContext['copy']>[0]): RequestContext {
    const { notify } = this.#options;
    const copied = new RequestContext({
      ...this.#options,
      message,
      target: target ?? (message.name === this.message.name ? this.target : undefined),
      timestamp: this.timestamp,
      notify: toProgress === undefined ? notify : changingProgress(notify, toProgress),
      asker: declares === undefined ? this.#asker : { ...this.#asker, clientCapabilities: { ...this.clientCapabilities, ...declares } },
    });
    this.#state ??= { keys: [], values: [] };
    copied.#state = this.#state;
    return copied;
  }
}

function changingProgress(notify: RequestContextOptions['notify'], toProgress: (params: JsonObject) => JsonObject): typeof notify {
  return (method, params) => notify(method, method === 'notifications/progress' && params !== undefined ? toProgress(params) : params);
}
