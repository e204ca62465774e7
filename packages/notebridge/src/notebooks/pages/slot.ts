import type { Duplex } from 'node:stream';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Tool } from '@notebridge/protocol/core/mcp';
import { type Channel, MessageStream } from '@notebridge/protocol/rpc/message-stream';
import { AsyncEvent } from '@notebridge/protocol/util/async-event';
import { Listeners } from '@notebridge/protocol/util/listeners';
import type { Logger } from '@notebridge/protocol/util/logger';
import type { WebSocket } from 'ws';
import type { PageProfile } from '../profiles/profile.js';
import { PageConnection } from './page-connection.js';
import type { ResumeOffer } from './page-session.js';
import { type KeptTokens, PageTokens, type Secrets } from './page-tokens.js';

export interface SlotOptions {
  profile: PageProfile;
  logger: Logger;
  /** Origins that may connect besides the profile's. */
  allowOrigins?: readonly string[] | undefined;
  pingMs: number;
  maxMessageBytes: number;
  /** Called with each token of the slot as it is made, so that no log shows it. */
  secrets?: Secrets | undefined;
  /** What an earlier process kept of the slot: its pages may come back. Default: nothing. */
  kept?: { tokens: KeptTokens; tools: readonly Tool[] | undefined } | undefined;
  /** Writes the slot to disk after a change; resolves to whether it could be. Default: slots end with the process. */
  save?: (() => Promise<boolean>) | undefined;
}

/** A page that has passed all checks and waits to be taken in. */
export interface Visitor {
  /** The token by which it came, and its origin. */
  token: string;
  origin: string;
  /** Completes its WebSocket handshake. Rejects if it has left meanwhile; called when it is decided what becomes of the page. */
  open: () => Promise<WebSocket>;
  stream: Duplex;
}

/** A page that was let in by its token and was sent away nevertheless. */
export interface TurnedAway {
  why: 'busy' | 'stale_token';
  origin: string;
}

/** A page that has no pong within this time gives way to the next. Milliseconds. */
const halfDeadMs = 2000;
/** The close code by which a page knows that another is connected, with its words. */
export const busyCode = 1013;
export const busyReason = 'Server is busy';
/** The close code by which a page knows that it is not wanted. */
const refusedCode = 1008;
const closingReason = 'Notebridge is closing';

/**
 * The lasting place of one page: its tokens, its profile, what is remembered of it. Pages come and go; each connection gets
 * streams of its own, since a reloaded page is a new MCP server that knows nothing of the one before.
 */
export class Slot {
  readonly profile: PageProfile;
  /** Origins besides the profile's. */
  allowedOrigins: readonly string[];
  /** What lets pages in. */
  readonly tokens: PageTokens;
  /** Set while a page's socket is open. */
  readonly connectionLive = new AsyncEvent();
  /** Called when a page's socket is open and its streams are `channel`. */
  readonly connected = new Listeners<void>();
  /** Called when it is gone, before the calls on it fail. */
  readonly disconnected = new Listeners<void>();
  /** Called for each page that was sent away. */
  readonly turnedAway = new Listeners<TurnedAway>();
  readonly #options: SlotOptions;
  #channel: Channel = createChannel();
  #connection: PageConnection | undefined;
  #holder: { origin: string; since: number } | undefined;
  #resume: ResumeOffer | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #closed = false;
  #rememberedTools: readonly Tool[] | undefined;

  constructor(options: SlotOptions) {
    this.#options = options;
    this.profile = options.profile;
    this.allowedOrigins = options.allowOrigins ?? [];
    this.tokens = new PageTokens(options.secrets, options.kept?.tokens);
    this.#rememberedTools = options.kept?.tools;
  }

  /** The tools that the last page listed; undefined before the first. */
  get rememberedTools(): readonly Tool[] | undefined {
    return this.#rememberedTools;
  }

  set rememberedTools(tools: readonly Tool[] | undefined) {
    this.#rememberedTools = tools;
    void this.#options.save?.();
  }

  /** What a page that is opened now must show. It stays the same until a page has swapped it for a resume token. */
  get token(): string {
    return this.tokens.entry;
  }

  /** The resume token that the page which is connected may have; undefined for none. */
  get resume(): ResumeOffer | undefined {
    return this.#resume;
  }

  /** The page that is connected: where it is from, and since when, in milliseconds since the epoch. */
  get holder(): { origin: string; since: number } | undefined {
    return this.#holder;
  }

  /** The streams of the page that is connected, else of the next one. */
  get channel(): Channel {
    return this.#channel;
  }

  /** `null`, the origin of sandboxed frames and local files, can be anyone and is never allowed. */
  allowsOrigin(origin: string): boolean {
    if (origin === '' || origin === 'null') return false;
    return this.profile.origins.includes(origin) || this.allowedOrigins.includes(origin);
  }

  /** Lets pages of more origins in. */
  allowOrigins(origins: readonly string[]): void {
    this.allowedOrigins = [...new Set([...this.allowedOrigins, ...origins])];
  }

  /** Hangs up on the page that is connected: pages of ours do not dial again by themselves then. False if there is none. */
  disconnect(reason: string): boolean {
    this.#connection?.close(refusedCode, reason);
    return this.#connection !== undefined;
  }

  /**
   * Takes a page in. A second page finds the first alive and is closed with 1013, or half-dead (no pong in 2 s) and takes its place.
   * Pages that dial at once are looked at one after the other; one whose token has ended meanwhile is closed with 1008.
   */
  accept(visitor: Visitor): Promise<void> {
    const turn = this.#turn.then(async () => {
      const busy = (await this.#connection?.isAlive(halfDeadMs)) === true;
      if (!busy) this.#connection?.terminate();
      const socket = await visitor.open();
      // One that is not attached may still send: what it sends wrongly must not throw.
      socket.on('error', () => {});
      if (this.#closed) socket.close(1001, closingReason);
      else if (busy) this.#turnAway(socket, visitor, 'busy');
      else if (!this.tokens.admits(visitor.token)) this.#turnAway(socket, visitor, 'stale_token');
      else this.#attach(socket, visitor);
    });
    this.#turn = turn.catch(() => {});
    return turn;
  }

  /** Closes the slot so that its page may have it elsewhere. Resolves to false, and changes nothing, if a page is in it that is alive. */
  yield(): Promise<boolean> {
    const turn = this.#turn.then(async () => {
      if ((await this.#connection?.isAlive(halfDeadMs)) === true) return false;
      this.#connection?.terminate();
      await this.close();
      return true;
    });
    this.#turn = turn.catch(() => {});
    return turn;
  }

  /** Hangs up and lets no page in any more. Resolves when the page is gone and the streams have ended. */
  close(): Promise<void> {
    this.#closed = true;
    this.tokens.close();
    const connection = this.#connection;
    if (connection === undefined) {
      endChannel(this.#channel);
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const stop = this.disconnected.add(() => {
        stop();
        resolve();
      });
      connection.close(1001, closingReason);
    });
  }

  #turnAway(socket: WebSocket, { origin }: Visitor, why: TurnedAway['why']): void {
    if (why === 'busy') socket.close(busyCode, busyReason);
    else socket.close(refusedCode, 'The access token has ended');
    this.turnedAway.emit({ why, origin });
  }

  #attach(socket: WebSocket, { stream, token, origin }: Visitor): void {
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
    this.#holder = { origin, since: Date.now() };
    this.#resume = this.#offerResume(token, origin);
    this.connectionLive.set();
    logger.info('A page connected.', { profile: this.profile.name });
    this.connected.emit();
  }

  #offerResume(token: string, origin: string): ResumeOffer | undefined {
    const { keepsToken = false, origins } = this.profile;
    const { save } = this.#options;
    if (keepsToken && origins.includes(origin)) {
      this.tokens.keep(token);
      void save?.();
      return undefined;
    }
    const offered = this.tokens.offer(token);
    const saved = save?.();
    if (offered === undefined) return undefined;
    const accept = (): void => {
      this.tokens.accept(offered);
      void save?.();
    };
    if (saved === undefined) return { token: offered, accept };
    // A page that had swapped its token for one that is on no disk could not come back to the next process.
    const isKept = saved.then((isSaved) => {
      if (!isSaved) this.tokens.withdraw(offered);
      return isSaved;
    });
    return { token: offered, accept, isKept };
  }

  #release(connection: PageConnection | undefined): void {
    if (connection === undefined || this.#connection !== connection) return;
    this.#connection = undefined;
    this.#holder = undefined;
    this.#resume = undefined;
    this.#channel = createChannel();
    if (this.#closed) endChannel(this.#channel);
    this.connectionLive.clear();
    this.disconnected.emit();
  }
}

function createChannel(): Channel {
  return { incoming: new MessageStream(), outgoing: new MessageStream() };
}

/** No page will come to these streams any more: their readers, present and later, are notified. */
function endChannel({ incoming, outgoing }: Channel): void {
  incoming.close(new BridgeError('closed', 'The notebook was closed before its page came.'));
  outgoing.close();
}
