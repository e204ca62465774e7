import { BridgeError, RemoteError } from '@notebridge/protocol/core/errors';
import type { ParamHeader } from '@notebridge/protocol/core/param-headers';
import type { JsonObject } from '@notebridge/protocol/json';
import type { Channel } from '@notebridge/protocol/rpc/message-stream';
import type { RpcId } from '@notebridge/protocol/rpc/messages';
import type { Logger } from '@notebridge/protocol/util/logger';
import type { Environment } from '@notebridge/system/processes/environment';
import type { ServerConfig } from '../config/server-config.js';
import type { Logins } from './oauth/logins.js';
import { StartFault } from './unavailable.js';

/** One connection with a server, and what must be closed with it. */
export interface Link {
  /** When the connection ends, `incoming` closes with the `upstream_unavailable` that calls in flight are to fail with. */
  readonly channel: Channel;
  /** The process, for a server that we started. */
  readonly pid?: number | undefined;
  /** Called once the two sides have agreed on a version: HTTP repeats it in a header. */
  setProtocolVersion?(version: string): void;
  /** Hangs up. Resolves when all processes of the server are gone. Closing twice is harmless. */
  close(): Promise<void>;
}

export interface LinkOptions {
  logger: Logger;
  /** Longest message, in UTF-16 units. */
  maxMessageLength: number;
  /** Receives each line of the server's stderr. */
  onStderrLine: (line: string) => void;
  /** Something came that is no message; it was skipped. */
  onUnreadable: (error: BridgeError) => void;
  /** The server may ask back: over HTTP each request needs a stream that is known from others. */
  mayAsk?: boolean | undefined;
  /** The parameters of a tool that calls over HTTP repeat in headers, as the server listed it last. */
  paramHeadersOf: (tool: unknown) => readonly ParamHeader[];
  /** Who we are to remote servers. */
  logins: Logins;
  /** Names the proxies of the user. */
  env: Environment;
  /** Ends the wait for a connection. */
  signal: AbortSignal;
}

/** Opens a connection. Rejects with a `StartFault`, or anything else for a fault that may pass. */
export type OpenLink = (config: ServerConfig, options: LinkOptions) => Promise<Link>;

const localFaults = new WeakMap<JsonObject, BridgeError>();

/** An answer that a link gives in place of a server that it could not ask. */
export function toFaultAnswer(id: unknown, fault: BridgeError): JsonObject {
  const error = { code: 0, message: fault.message };
  localFaults.set(error, fault);
  return { jsonrpc: '2.0', id, error };
}

/** The error of ours that came as such an answer; any other error as it is. */
export function fromFaultAnswer(error: unknown): unknown {
  return error instanceof RemoteError ? (localFaults.get(error.raw) ?? error) : error;
}

/** What the link says of a start that failed, when it was the link that failed. */
export function startFaultOf(error: unknown): StartFault | undefined {
  if (error instanceof StartFault) return error;
  const fault = fromFaultAnswer(error);
  return fault instanceof BridgeError && fault.cause instanceof StartFault ? fault.cause : undefined;
}

const streams = new WeakMap<object, RpcId>();

/** Notes that a request of the server came on the stream of this call of ours. */
export function noteStream(request: object, call: RpcId): void {
  streams.set(request, call);
}

/** The call on whose stream a request of the server came; undefined if the wire does not say. */
export function streamOf(request: object): RpcId | undefined {
  return streams.get(request);
}
