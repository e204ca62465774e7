import { SerialCalls } from '@notebridge/protocol/questions/serial-calls';
import { type McpClient, StubClient } from '@notebridge/protocol/rpc/mcp-client';
import type { RpcNotification } from '@notebridge/protocol/rpc/messages';
import { NotificationBrake } from '@notebridge/protocol/rpc/notification-brake';
import { AsyncEvent } from '@notebridge/protocol/util/async-event';
import { Listeners } from '@notebridge/protocol/util/listeners';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { defaultHandshakeMs, PageSession, type PageSessionOptions, type ResumeOffer } from './page-session.js';
import type { Slot } from './slot.js';

/** How pages are told of us, and how long they may take. */
export type PageLimits = Pick<PageClientOptions, 'clientInfo' | 'handshakeMs' | 'callTimeoutMs' | 'graceMs'>;

export interface PageClientOptions extends Omit<PageSessionOptions, 'onNotification' | 'resume' | 'questions'> {
  /** Makes the session with the page that has just connected. Default: over the slot's channel. */
  connectSession?: ((options: PageSessionOptions) => Promise<PageSession>) | undefined;
  /** How long after a page went away it is expected back, in milliseconds. Default 30000. */
  graceMs?: number | undefined;
}

const defaultGraceMs = 30_000;
/** How long an agent may take to answer what a page asks, where calls have no time-out. Milliseconds. */
const defaultAnswerMs = 3_600_000;

/**
 * The client of whatever page is in a slot: a fresh session and `initialize` for every connection, and a stub in between.
 *
 *     absent ──page dials──▶ handshaking ──answered──▶ connected ──page goes──▶ expected back ──grace over──▶ absent
 */
export class PageClient {
  readonly stubbedMcpClient: McpClient = new StubClient();
  /** Called with `true` when a page can be called, with `false` when it went away. */
  readonly connectionChanged = new Listeners<boolean>();
  /** The calls in which the page may ask, if its profile lets it. */
  readonly questions: SerialCalls | undefined;
  /** Notifications of the connected page. */
  readonly notified = new Listeners<RpcNotification>();
  readonly #slot: Slot;
  readonly #options: PageClientOptions;
  readonly #logger: Logger;
  readonly #ready = new AsyncEvent();
  /** Of the slot, not of a connection: a page gains nothing by coming back. */
  readonly #brake = new NotificationBrake({
    sender: 'the notebook page',
    pass: (said) => this.notified.emit({ jsonrpc: '2.0', ...said }),
  });
  #session: PageSession | undefined;
  #handshaking: PageSession | undefined;
  /** A page is there, and the token that it is to have is being written. */
  #isPreparing = false;
  #expectedUntil = Number.NEGATIVE_INFINITY;
  #stop: (() => void)[] = [];

  constructor(slot: Slot, options: PageClientOptions = {}) {
    this.#slot = slot;
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
    const { questions, title } = slot.profile;
    this.questions = questions && new SerialCalls({ server: title, timeoutMs: options.callTimeoutMs ?? defaultAnswerMs });
  }

  /** The live session; undefined unless its handshake has finished. */
  get proxyMcpClient(): PageSession | undefined {
    return this.#session;
  }

  /** Begins to serve the pages that connect. Starting twice is harmless. */
  start(): this {
    if (this.#stop.length > 0) return this;
    this.#ready.clear();
    const performHandshake = (): void => {
      this.#performHandshake().catch((error: unknown) => this.#logger.error('Serving a page failed.', { error: messageOf(error) }));
    };
    this.#stop = [this.#slot.connected.add(performHandshake), this.#slot.disconnected.add(() => this.#lose())];
    if (this.#slot.connectionLive.isSet()) performHandshake();
    return this;
  }

  /** True only while the socket is open and the handshake has finished: a session ends with its socket. Bound, for who is handed it. */
  readonly isConnected = (): boolean => this.#session !== undefined;

  /** The live client, or a stub that answers empty lists. Bound as well. */
  readonly clientFactory = (): McpClient => this.#session ?? this.stubbedMcpClient;

  /** Waits until a page can be called, at most `timeoutMs`. Resolves to whether one can; never rejects. */
  async waitUntilConnected(timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    await this.#ready.wait(timeoutMs, signal);
    return this.isConnected();
  }

  /** How long a page is still expected: shaking hands, or lately gone. Milliseconds; 0 if none is. */
  expectedForMs(): number {
    const handshakeMs = this.#handshaking === undefined && !this.#isPreparing ? 0 : (this.#options.handshakeMs ?? defaultHandshakeMs);
    return Math.max(handshakeMs, this.#expectedUntil - performance.now());
  }

  /** From now on a page is expected, as if it had just gone away: one of an earlier process comes back by itself. */
  expect(): void {
    this.#expectedUntil = performance.now() + (this.#options.graceMs ?? defaultGraceMs);
  }

  /** Hangs up and stops serving; waits for a page end without one. Closing twice is harmless. */
  async close(): Promise<void> {
    for (const stop of this.#stop) stop();
    this.#stop = [];
    const sessions = [this.#session, this.#handshaking];
    this.#lose();
    this.#expectedUntil = Number.NEGATIVE_INFINITY;
    this.#ready.set();
    this.#brake.close();
    for (const session of sessions) await session?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Shakes hands with the page that has just connected. */
  async #performHandshake(): Promise<void> {
    const { channel, resume } = this.#slot;
    // Meanwhile the page may have left, another may have come, and we may have been closed.
    const isStale = (): boolean => this.#slot.channel !== channel || this.#stop.length === 0;
    let session: PageSession | undefined;
    try {
      const offer = await this.#toKeptOffer(resume);
      if (isStale()) return;
      session = await this.#connectSession(offer, (notification) => {
        // Before the handshake is over the page may announce a change of its tools; its arrival does so anyway.
        if (session !== undefined && this.#session === session) this.#brake.take(notification);
      });
      if (isStale()) return await session.close();
      this.#handshaking = session;
      await session.initialize();
    } catch (error) {
      if (!isStale()) this.#logger.warn('The handshake with the page failed; its connection is closed.', { error: messageOf(error) });
      if (this.#handshaking === session) this.#handshaking = undefined;
      return session?.close();
    }
    if (isStale()) return session.close();
    this.#handshaking = undefined;
    this.#session = session;
    this.#ready.set();
    this.connectionChanged.emit(true);
  }

  /** The offer, once it outlives this process; none where it does not. */
  async #toKeptOffer(resume: ResumeOffer | undefined): Promise<ResumeOffer | undefined> {
    if (resume?.isKept === undefined) return resume;
    this.#isPreparing = true;
    const isKept = await resume.isKept;
    this.#isPreparing = false;
    return isKept ? resume : undefined;
  }

  #connectSession(resume: ResumeOffer | undefined, onNotification: (notification: RpcNotification) => void): Promise<PageSession> {
    const { connectSession = async (options) => new PageSession(this.#slot.channel, options) } = this.#options;
    return connectSession({ ...this.#options, questions: this.questions, resume, onNotification });
  }

  #lose(): void {
    // One that left in the middle of its handshake is on its way back as well.
    if (this.#session ?? this.#handshaking) this.expect();
    this.#handshaking = undefined;
    if (this.#session === undefined) return;
    this.#session = undefined;
    this.#ready.clear();
    this.connectionChanged.emit(false);
  }
}
