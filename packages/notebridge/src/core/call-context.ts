import type { JsonObject } from '../util/json.js';
import type { Cancellation } from './cancellation.js';
import type { Era } from './protocol-versions.js';

/** Who calls, and through which door. */
export interface Caller {
  /** Lasts as long as the connection or session. */
  readonly sessionId: string;
  readonly door: 'stdio' | 'http' | 'library';
  readonly era: Era;
  /** Name and version that the caller gave itself: for logs and pages, never a proof of who it is. */
  readonly clientInfo: JsonObject | undefined;
}

/** What travels with every call from door to provider. */
export interface CallContext {
  /** Under which the log and the caller's error speak of the same call. */
  readonly callId: string;
  readonly caller: Caller;
  readonly cancellation: Cancellation;
  /** The cancellation as an `AbortSignal`. */
  readonly signal: AbortSignal;
  /** True if the caller asked for progress; otherwise `forwardProgress` sends nothing. */
  readonly wantsProgress: boolean;
  /** Passes progress params of a provider on as they are, under the caller's own token. */
  forwardProgress(params: JsonObject): void;
  /** Sends a log line to the caller (`notifications/message`), if it wants that level. */
  log(level: string, data: unknown, logger?: string): void;
}
