import { BridgeError } from '@notebridge/protocol/core/errors';
import type { MessageStream } from '@notebridge/protocol/rpc/message-stream';
import type { AsyncEvent } from '@notebridge/protocol/util/async-event';
import { Listeners } from '@notebridge/protocol/util/listeners';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import type { EntryGate } from '@notebridge/system/net/entry-gate';
import type { OnRefused } from '@notebridge/system/net/refused-attempt';
import { describePortOwner } from '@notebridge/system/processes/port-owner';
import { type AnswerPlain, PageListener, type PagePort, type RefusedPage } from '../notebooks/pages/page-listener.js';
import type { Secrets } from '../notebooks/pages/page-tokens.js';
import { Slot } from '../notebooks/pages/slot.js';
import type { SlotFinder } from '../notebooks/pages/slot-finder.js';
import { colabProfile } from '../notebooks/profiles/colab.js';
import type { PageProfile } from '../notebooks/profiles/profile.js';

export interface ColabWebSocketServerOptions {
  /** Port on both loopback families. Default 0: any free one. */
  port?: number | undefined;
  /** A port that others have bound; then none is bound, and `port` means nothing. */
  at?: PagePort | undefined;
  /** The kind of page that may connect. Default: Google Colab. */
  profile?: PageProfile | undefined;
  /** Host names and origins that are let in besides the usual ones; exact. */
  allowHosts?: readonly string[] | undefined;
  allowOrigins?: readonly string[] | undefined;
  /** Time between pings, and time to answer one, in milliseconds. Default 20000. */
  pingMs?: number | undefined;
  /** Largest frame of the page. Default 64 MiB. */
  maxMessageBytes?: number | undefined;
  logger?: Logger | undefined;
  /** Told each token of a page as it is made and as it ends, so that no log shows it. Default: nobody is. */
  secrets?: Secrets | undefined;
  /** Told of each connection that was refused for its Host, its Origin or its token. Default: nobody is. */
  onRefused?: OnRefused | undefined;
  /** Keeps the slot's tokens and tools after a change; resolves to whether it could. Default: they end with the process. */
  save?: (() => Promise<boolean>) | undefined;
  /** Has slots of other hubs come here with their pages. Default: there are no others. */
  finder?: SlotFinder | undefined;
  /** Knows whose connections are let in. Default: those of this user alone (Linux). */
  gate?: EntryGate | undefined;
  /** Answers requests to the port that are no page's. Default: each is told that there is nothing to see. */
  answerPlain?: AnswerPlain | undefined;
}

/** The WebSocket server that one Colab page dials: a listener with a single slot. */
export class ColabWebSocketServer {
  readonly slot: Slot;
  /** The port that the page dials; 0 before `start`, and after `close`. */
  port = 0;
  /** Called for each page that was refused. */
  readonly refused = new Listeners<RefusedPage>();
  readonly #options: ColabWebSocketServerOptions & { logger: Logger; maxMessageBytes: number };
  #starting: Promise<PageListener> | undefined;
  #listener: PageListener | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: ColabWebSocketServerOptions = {}) {
    this.#options = { ...options, logger: options.logger ?? silentLogger, maxMessageBytes: options.maxMessageBytes ?? 64 * 1024 * 1024 };
    const { profile = colabProfile, pingMs = 20_000, allowOrigins, logger, maxMessageBytes, secrets, save } = this.#options;
    this.slot = new Slot({ profile, pingMs, allowOrigins, logger, maxMessageBytes, secrets, save });
  }

  /** Binds the port. Starting twice is harmless. Rejects with `port_in_use`, or `closed` after `close`. */
  async start(): Promise<this> {
    if (this.#closing !== undefined) throw new BridgeError('closed', 'This socket server was closed; make a new one.');
    const { port = 0, at, allowHosts, logger, maxMessageBytes, onRefused, answerPlain, finder, gate } = this.#options;
    const own = { slots: [this.slot], describePortOwner, onRefusedPage: (page: RefusedPage) => this.refused.emit(page) };
    this.#starting ??= PageListener.open({ ...own, port, at, allowHosts, logger, maxMessageBytes, onRefused, answerPlain, finder, gate });
    try {
      this.#listener = await this.#starting;
      this.port = this.#listener.port;
    } catch (error) {
      this.#starting = undefined;
      throw error;
    }
    return this;
  }

  /**
   * What a page that is opened now must show, in its URL. For Colab it stays the same while the server lives: a reloaded page knows
   * no other. A page that swapped it for a resume token ends it, and the next one that is opened gets another.
   */
  get token(): string {
    return this.slot.token;
  }

  /** Set while a page's socket is open, whether or not its handshake is over. */
  get connectionLive(): AsyncEvent {
    return this.slot.connectionLive;
  }

  /** Messages of the page that is connected, else of the next one. New for each connection. */
  get readStream(): MessageStream<unknown> {
    return this.slot.channel.incoming;
  }

  /** Messages to that page. */
  get writeStream(): MessageStream<unknown> {
    return this.slot.channel.outgoing;
  }

  /** Connections that came and went without a byte, as a browser without the permission for the local network makes them. */
  get silentConnections(): number {
    return this.#listener?.silentConnections ?? 0;
  }

  /** Hangs up on the page, ends both streams and frees the port, also one that is just being bound. Closing twice is harmless. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    const gone = this.slot.close();
    const listener = await this.#starting?.catch(() => undefined);
    this.#listener = undefined;
    this.port = 0;
    await listener?.close();
    await gone;
  }
}
