import type { JsonObject } from '../json.js';
import type { CallContext } from './call-context.js';
import type { ParamHeader } from './param-headers.js';

/** A notification of a provider: a list changed, a resource was updated, a log line. */
export interface ProviderEvent {
  method: string;
  params?: JsonObject;
  /** The server that sent it. Left out: the provider has none behind it. */
  server?: string;
  /** Of a log line: the calls that ran on that server when it came. Which of them it is about is not known. */
  callIds?: readonly string[];
  /** The one session that it is for. Left out: it is for all. */
  sessionId?: string;
}

/**
 * Anything that offers tools, resources or prompts. Requests come as MCP method and params and resolve to the MCP
 * result, so that a method of the future needs no new member here.
 */
export interface Provider {
  readonly name: string;
  /** Sent to agents when they connect. */
  readonly instructions?: string | undefined;
  /** What servers behind it say of their use, for an agent that may hear these servers. Left out: there are none behind it. */
  instructionsOf?(mayHear: (server: string) => boolean): string | undefined;
  /**
   * Handles one request. Rejects with `unknown_method` or `unknown_tool` for what it does not have, `cancelled` when the
   * context was cancelled. A tool that fails resolves, with `isError`.
   */
  request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject>;
  /** Takes a notification of an agent, which `context` names; what means nothing here is ignored. */
  notify(method: string, params: JsonObject | undefined, context?: CallContext): void;
  /**
   * The parameters of one of its tools that calls over HTTP repeat in headers (`x-mcp-header`), as far as it is known without asking.
   * Left out: no tool of its has any.
   */
  paramHeadersOf?(tool: unknown): readonly ParamHeader[];
  /**
   * True for a name that stands for a tool of its own wherever it is asked for, whatever others call theirs: who may call that tool was
   * decided by the name. Left out: it has none of these.
   */
  hasTool?(name: unknown): boolean;
  /** Why it cannot be known whether a tool that was not listed is one of its tools. Left out, or undefined: it is none. */
  whyUnknown?(name: string): Error | undefined;
  /** Listens to events from now on. Returns the unsubscribe function. */
  subscribe(listener: (event: ProviderEvent) => void): () => void;
}
