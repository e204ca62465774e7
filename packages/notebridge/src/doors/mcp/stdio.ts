import type { Readable, Writable } from 'node:stream';
import { createLineChannel } from '@notebridge/protocol/rpc/line-channel';
import type { MessageStream } from '@notebridge/protocol/rpc/message-stream';
import type { RecordChannel } from '@notebridge/protocol/rpc/tapped-channel';
import { ownStdio } from '@notebridge/system/processes/own-stdio';
import type { Hub } from '../../hub.js';
import { AgentSession } from './agent-session.js';

export interface StdioOptions {
  /** Default: standard input of this process. */
  input?: Readable;
  /** Default: standard output of this process. */
  output?: Writable;
  /** Longest message, in UTF-16 units. Default 64 Mi. */
  maxMessageLength?: number | undefined;
  /** Requests that may run at once. Default 1024. */
  maxInFlight?: number | undefined;
  /** Records what is said. Default: nobody does. */
  record?: RecordChannel | undefined;
}

export interface StdioDoor {
  /** Resolves when the agent has gone or `close` was called. */
  readonly closed: Promise<void>;
  close(): void;
}

/** Bytes that wait for an agent which does not read; past it notifications are dropped. Answers still wait. */
const maxUnreadBytes = 1024 * 1024;
/** How long answers under way may still leave after the agent has closed its end. Milliseconds. */
const lastAnswersMs = 500;

/** The MCP door over stdio, for agents of both eras. */
export function serveStdio(hub: Hub, options: StdioOptions = {}): StdioDoor {
  let session: AgentSession;
  const stdio = { ...ownStdio(), ...options };
  const { output } = stdio;
  const channel = createLineChannel({
    ...stdio,
    maxMessageLength: options.maxMessageLength ?? 64 * 1024 * 1024,
    onUnreadable: (error) => session.reportUnreadable(error),
    onEnd: (error) => {
      if (error === undefined) return closeWhenAnswered(session, channel.incoming, performance.now() + lastAnswersMs);
      hub.logger.warn('The connection with the agent broke.', { error: error.message });
      channel.incoming.close(error);
    },
  });
  const closed = new Promise<void>((resolve) => {
    const isBehind = (): boolean => output.writableLength > maxUnreadBytes;
    const agent = options.record?.(channel, { name: 'agent', we: 'server' }) ?? channel;
    session = new AgentSession({ hub, channel: agent, door: 'stdio', isBehind, maxInFlight: options.maxInFlight, onClose: resolve });
  });
  output.on('drain', () => session.catchUp());
  return { closed, close: () => session.close() };
}

/** The agent has said all it wants: what runs may still be answered, so that `echo … | notebridge` gets its answers. */
function closeWhenAnswered(session: AgentSession, incoming: MessageStream<unknown>, deadline: number): void {
  session.endListens();
  if (session.inFlight === 0 || performance.now() >= deadline) incoming.close();
  else setTimeout(closeWhenAnswered, 10, session, incoming, deadline);
}
