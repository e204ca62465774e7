import type { JsonObject } from '../json.js';
import type { CallContext } from './call-context.js';
import type {
  GetPromptResult,
  InitializeResult,
  ListPromptsResult,
  ListResourcesResult,
  ListToolsResult,
  ReadResourceResult,
  ToolCall,
  ToolResult,
} from './mcp.js';
import type { ToolAddress } from './tool-address.js';

declare const answered: unique symbol;

/**
 * A result that went through the chain. It comes from `callNext`, or from `answer` for a middleware that answers itself, so a
 * hook that forgets `callNext` does not compile. Spreading a result keeps the mark: `{ ...result, tools }`.
 */
export type Answered<Result> = Result & { readonly [answered]: true };

/** Answers in place of everything further in: the deliberate way not to call `callNext`. */
export function answer<Result extends JsonObject>(result: Result): Answered<Result> {
  return result as Answered<Result>;
}

/**
 * Hands on to the next middleware, or to the provider after the last, once: for the same context again it rejects with `internal`, which
 * names the middleware; a `copy` is another one. Rejects with what they reject with.
 */
export type CallNext<Params, Result> = (context: MiddlewareContext<Params>) => Promise<Answered<Result>>;

export type Hook<Params, Result> = (context: MiddlewareContext<Params>, callNext: CallNext<Params, Result>) => Promise<Answered<Result>>;

/** One message on its way in, and what a middleware can do about it. */
export interface MiddlewareContext<Params = JsonObject> extends CallContext {
  readonly method: string;
  readonly type: 'request' | 'notification';
  /** The params of the message; an empty object if it has none. */
  readonly message: Params;
  /** When the message arrived, milliseconds since the epoch. */
  readonly timestamp: number;
  /** State of this message, shared by all middlewares and the tool; gone with it. */
  setState(key: string, value: unknown): void;
  getState(key: string): unknown;
  /** Sends progress under the caller's token; nothing if the caller gave none. */
  reportProgress(progress: number, total?: number, message?: string): void;
  /** Notifies the caller that its list of tools has changed. */
  sendToolListChanged(): void;
  /**
   * The same message with other params: `callNext(context.copy({ message }))`. A call under another name is aimed at what that name
   * stands for, unless `target` is given. `declares`: capabilities of a client that the caller has besides those that it has now.
   * `toProgress`: changes the params of progress before they are forwarded.
   */
  copy(changes: {
    message: Params;
    target?: ToolAddress | undefined;
    declares?: JsonObject | undefined;
    toProgress?: ((params: JsonObject) => JsonObject) | undefined;
  }): MiddlewareContext<Params>;
}

/** What a middleware may use of the hub that it was added to. */
export interface MiddlewareHost {
  /** Notifies every agent that the list of tools has changed. */
  sendToolListChanged(): void;
}

/**
 * One layer of the onion around every message. `onMessage` wraps `onRequest` or `onNotification`, which wraps the hook of the
 * method. Of several middlewares the first added is outermost.
 */
export interface Middleware {
  /** For errors. Default: the name of the class, or of the function. */
  readonly name?: string;
  /** Called once, when the middleware is added. Returns what is to be done when the host closes. */
  onAdded?(host: MiddlewareHost): (() => void) | undefined;
  onMessage?: Hook<JsonObject, JsonObject>;
  onRequest?: Hook<JsonObject, JsonObject>;
  onNotification?: Hook<JsonObject, JsonObject>;
  /** `initialize`, and `server/discover` of the modern era. */
  onInitialize?: Hook<JsonObject, InitializeResult>;
  onListTools?: Hook<JsonObject, ListToolsResult>;
  onCallTool?: Hook<ToolCall, ToolResult>;
  onListResources?: Hook<JsonObject, ListResourcesResult>;
  onReadResource?: Hook<JsonObject, ReadResourceResult>;
  onListPrompts?: Hook<JsonObject, ListPromptsResult>;
  onGetPrompt?: Hook<JsonObject, GetPromptResult>;
}
