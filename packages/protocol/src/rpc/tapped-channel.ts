import { type Channel, MessageStream } from './message-stream.js';

/** Sees what crosses a channel. What it throws ends the message: it must not throw. */
export interface ChannelTap {
  /** Each message, before it is handed on. */
  onMessage: (message: unknown, direction: 'incoming' | 'outgoing') => void;
  /** The first end that closed: `incoming` when the other side went away, `outgoing` when this one hung up. */
  onClose: (direction: 'incoming' | 'outgoing', error: Error | undefined) => void;
}

/** Which connection a channel is, for who records it. */
export interface RecordedLink {
  /** `agent`, `page`, or `server:NAME`. */
  name: string;
  /** Which of its two ends this process is, in the sense of MCP. */
  we: 'client' | 'server';
}

/** Gives the channel to use in place of this one, which records what crosses it. */
export type RecordChannel = (channel: Channel, link: RecordedLink) => Channel;

/** The same connection, with somebody who listens in: the very same messages, in the same turns of the loop. */
export function tapChannel(channel: Channel, tap: ChannelTap): Channel {
  const incoming = new MessageStream<unknown>();
  const outgoing = new MessageStream<unknown>();
  let isOver = false;
  const close = (direction: 'incoming' | 'outgoing', error: Error | undefined): void => {
    if (isOver) return;
    isOver = true;
    tap.onClose(direction, error);
  };
  channel.incoming.consume({
    onItem: (message) => {
      tap.onMessage(message, 'incoming');
      incoming.send(message);
    },
    onClose: (error) => {
      close('incoming', error);
      incoming.close(error);
    },
  });
  outgoing.consume({
    onItem: (message) => {
      tap.onMessage(message, 'outgoing');
      channel.outgoing.send(message);
    },
    onClose: (error) => {
      close('outgoing', error);
      channel.outgoing.close(error);
    },
  });
  return { incoming, outgoing };
}
