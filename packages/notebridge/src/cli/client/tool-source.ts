import type { ToolAddress } from '@notebridge/protocol/core/tool-address';
import type { JsonObject } from '@notebridge/protocol/json';
import type { OwnerBody } from '../../doors/owner/owner-schemas.js';
import type { ToolCallResponse } from '../../doors/tool-proxy/to-answer.js';

export interface CallOptions {
  /** Aborting it cancels the call at the server. */
  signal: AbortSignal;
  /** A person has typed this call on a terminal, which is their approval of it. */
  isTyped: boolean;
  /** Receives progress and log lines of the tool; left out, the tool is not asked for any. */
  onEvent?: ((event: ToolEvent) => void) | undefined;
}

export interface ToolEvent {
  event: 'progress' | 'log';
  params: JsonObject;
}

/** Where the commands find servers and tools: the running hub, or the config's servers in this process. */
export interface ToolSource {
  /** The hub's address; undefined for this process. */
  readonly hub: string | undefined;
  /** The status of all servers. */
  servers(): Promise<readonly OwnerBody<'Server'>[]>;
  /** How their tools are called. */
  policy(): Promise<OwnerBody<'HubReport'>['policy']>;
  /** One of them with its tools, started for it if need be. Rejects with `unknown_server` or `upstream_unavailable`. */
  server(name: string): Promise<OwnerBody<'Server'>>;
  /** Resolves also for a tool that failed. Rejects with `unknown_server`, `cancelled`, and what kept the call from being made. */
  call(address: ToolAddress, args: JsonObject, options: CallOptions): Promise<ToolCallResponse>;
  /** Ends what was started for it. Closing twice is harmless. */
  close(): Promise<void>;
}
