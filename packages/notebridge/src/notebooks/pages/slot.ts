import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { BridgeError } from '../../core/errors.js';
import type { Logger } from '../../core/logger.js';
import type { Tool } from '../../core/mcp.js';
import { type Channel, MessageStream } from '../../core/message-stream.js';
import { AsyncEvent } from '../../util/async-event.js';
import { Listeners } from '../../util/listeners.js';
import type { PageProfile } from '../profiles/profile.js';
import { PageConnection } from './page-connection.js';
import { createToken } from './token.js';

export interface SlotOptions {
  profile: PageProfile;
  logger: Logger;
  /** Origins that may connect besides the profile's. */
  allowOrigins?: readonly string[] | undefined;
  pingMs: number;
  maxMessageBytes: number;
}

/** A page that has no pong within this time gives way to the next. Milliseconds. */
const halfDeadMs = 2000;
const closingReason = 'Notebridge is closing';

/**
 * The lasting place of one page: its token, its profile, what is remembered of it. Pages come and go; each connection gets
 * streams of its own, since a reloaded page is a new MCP server that knows nothing of the one before.
 */
export class Slot {
  readonly token = createToken();
  readonly profile: PageProfile;
  /** Set while a page's socket is open. */
  readonly connectionLive = new AsyncEvent();
  /** Told when a page's socket is open and its streams are `channel`. */
  readonly connected = new Listeners<void>();
  /** Told when it is gone, before the calls on it fail. */
  readonly disconnected = new Listeners<void>();
  /** The tools that the last page listed; undefined before the first. */
  rememberedTools: readonly Tool[] | undefined;
  readonly #options: SlotOptions;
  #channel: Channel = createChannel();
  #connection: PageConnection | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(options: SlotOptions) {
    this.#options = options;
    this.profile = options.profile;
  }

  /** The streams of the page that is connected, else of the next one. */
  get channel(): Channel {
    return this.#channel;
  }

  /** `null`, the origin of sandboxed frames and local files, can be anybody and is never allowed. */
  allowsOrigin(origin: string | undefined): boolean {
    if (origin === undefined || origin === 'null') return false;
    return this.profile.origins.includes(origin) || this.#options.allowOrigins?.includes(origin) === true;
  }

  /**
   * Takes a page in. `open` completes its WebSocket handshake, and rejects if it has left meanwhile; it is called when it is
   * decided what becomes of the page. A second page finds the first alive and is told 1013, or half-dead (no pong in 2 s) and
   * takes its place. Pages that dial at once are looked at one after the other.
   */
  accept(open: () => Promise<WebSocket>, stream: Duplex): Promise<void> {
    const turn = this.#turn.then(async () => {
      const busy = (await this.#connection?.isAlive(halfDeadMs)) === true;
      if (!busy) this.#connection?.terminate();
      const socket = await open();
      // One that is not attached is still somebody's: what it sends wrongly must not throw.
      socket.on('error', () => {});
      if (this.#closed) socket.close(1001, closingReason);
      else if (busy) socket.close(1013, 'Server is busy');
      else this.#attach(socket, stream);
    });
    this.#turn = turn.catch(() => {});
    return turn;
  }

  /** Hangs up and lets nobody in any more. */
  close(): void {
    this.#closed = true;
    if (this.#connection !== undefined) this.#connection.close(1001, closingReason);
    else this.#channel.incoming.close(new BridgeError('closed', 'The notebook was closed before its page came.'));
  }

  #attach(socket: WebSocket, stream: Duplex): void {
    this.#release(this.#connection);
    const { logger, pingMs, maxMessageBytes } = this.#options;
    const connection = new PageConnection({
      socket,
      stream,
      channel: this.#channel,
      logger,
      pingMs,
      maxBufferedBytes: 2 * maxMessageBytes,
      onClose: () => this.#release(connection),
    });
    this.#connection = connection;
    this.connectionLive.set();
    logger.info('A page connected.', { profile: this.profile.name });
    this.connected.emit();
  }

  #release(connection: PageConnection | undefined): void {
    if (connection === undefined || this.#connection !== connection) return;
    this.#connection = undefined;
    this.#channel = createChannel();
    this.connectionLive.clear();
    this.disconnected.emit();
  }
}

function createChannel(): Channel {
  return { incoming: new MessageStream(), outgoing: new MessageStream() };
}
