import type { Readable, Writable } from 'node:stream';
import { type Channel, MessageStream } from '../../core/message-stream.js';
import type { Hub } from '../../hub.js';
import { ownStdio } from '../../processes/own-stdio.js';
import { AgentSession } from './agent-session.js';
import { createLineChannel } from './line-channel.js';

export interface StdioOptions {
  /** Default: standard input of this process. */
  input?: Readable;
  /** Default: standard output of this process. */
  output?: Writable;
  /** Longest message, in UTF-16 units. Default 64 Mi. */
  maxMessageLength?: number | undefined;
  /** Requests that may run at once. Default 1024. */
  maxInFlight?: number | undefined;
}

export interface StdioDoor {
  /** Resolves when the agent has gone or `close` was called. */
  readonly closed: Promise<void>;
  close(): void;
}

/** How long answers under way may still leave after the agent has closed its end. Milliseconds. */
const lastAnswersMs = 500;

/** The MCP door over stdio, for agents of both eras. */
export function serveStdio(hub: Hub, options: StdioOptions = {}): StdioDoor {
  let session: AgentSession | undefined;
  const lines = createLineChannel({
    ...ownStdio(),
    ...options,
    maxMessageLength: options.maxMessageLength ?? 64 * 1024 * 1024,
    onUnreadable: (error) => session?.reportUnreadable(error),
  });
  const closed = new Promise<void>((resolve) => {
    const channel = untilAnswered(lines, () => session?.inFlight ?? 0);
    session = new AgentSession({ hub, channel, door: 'stdio', maxInFlight: options.maxInFlight, onClose: resolve });
  });
  return { closed, close: () => session?.close() };
}

/** Keeps a closed connection open for the calls that run, so that `echo … | notebridge` gets its answers. */
function untilAnswered({ incoming, outgoing }: Channel, inFlight: () => number): Channel {
  const held = new MessageStream<unknown>();
  const closeWhenIdle = (error: Error | undefined, deadline: number): void => {
    if (error !== undefined || inFlight() === 0 || Date.now() >= deadline) held.close(error);
    else setTimeout(closeWhenIdle, 10, error, deadline);
  };
  incoming.consume({ onItem: (message) => held.send(message), onClose: (error) => closeWhenIdle(error, Date.now() + lastAnswersMs) });
  return { incoming: held, outgoing };
}
