import type { JsonObject } from '../json.js';
import type { Cancellation } from './cancellation.js';
import type { Principal } from './principal.js';
import type { Era } from './protocol-versions.js';
import type { Ask, Asker } from './questions.js';
import type { ToolAddress } from './tool-address.js';

/** Who calls, and through which door. */
export interface Caller {
  /** Lasts as long as the connection or session. */
  readonly sessionId: string;
  readonly door: 'stdio' | 'http' | 'tool-proxy' | 'command' | 'library';
  readonly era: Era;
  /** Name and version that the caller gave itself: for logs and pages, never a proof of who it is. */
  readonly clientInfo: JsonObject | undefined;
  /** On whose behalf, as the door has proved it. Left out: the owner. */
  readonly principal?: Principal;
}

/** The call in whose course code runs, seen by the calls of that code. */
export interface ParentCall {
  readonly callId: string;
  /** Who made it. Left out: nobody whose calls are counted as one with those of the code. */
  readonly caller?: Caller | undefined;
  /** How the agent that made it is asked, as long as it runs. Left out: it cannot be asked. */
  readonly asker?: Asker | undefined;
  /** Stops the clock of its code while a person is asked; what it returns starts it again. Left out: it has none. */
  readonly pauseClock?: (() => () => void) | undefined;
}

/** What travels with every call from door to provider. */
export interface CallContext {
  /** The call's id in the log and in the caller's error. */
  readonly callId: string;
  readonly caller: Caller;
  /** The call in whose course the code runs that made this one. */
  readonly parent?: ParentCall | undefined;
  /** True for a call that its owner has typed: it is not asked about again. */
  readonly isTyped?: boolean | undefined;
  /** What a call of a server's tool is aimed at, by the server's own names. Left out: the name in the message decides. */
  readonly target?: ToolAddress | undefined;
  /** The trace that the HTTP request of the call belongs to. Left out: it came by another way, or names none. */
  readonly trace?: TraceHeaders | undefined;
  readonly cancellation: Cancellation;
  /** The cancellation as an `AbortSignal`. */
  readonly signal: AbortSignal;
  /**
   * What the caller's client can be asked during this call: `elicitation`, `sampling`, `roots`, as it declared them; and the `extensions`
   * that a middleware of ours serves for it. Left out: nothing.
   */
  readonly clientCapabilities?: JsonObject | undefined;
  /** Asks the caller while this call runs. Left out: it can be asked by an answer alone (`input_required`), or not at all. */
  readonly ask?: Ask | undefined;
  /** True if the caller asked for progress; otherwise `forwardProgress` sends nothing. */
  readonly wantsProgress: boolean;
  /** Passes progress params of a provider on as they are, under the caller's own token. */
  forwardProgress(params: JsonObject): void;
  /** Sends a log line to the caller (`notifications/message`), if it wants that level. */
  log(level: string, data: unknown, logger?: string): void;
}

/** The trace of a caller, as W3C Trace Context has it in the headers of an HTTP request. Not checked yet. */
export interface TraceHeaders {
  readonly traceparent: unknown;
  readonly tracestate: unknown;
}
