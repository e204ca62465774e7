import { randomUUID } from 'node:crypto';
import { createInbox, type Msg, type MsgHdrs, type Subscription } from '@nats-io/transport-node';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { type StoreChange, type StoredEntry, StoreUnavailable, type StoreWatch } from '@notebridge/system/files/shared-store';
import type { NatsLink } from './nats-link.js';

/** The server says so often that a watch is alive, if it has nothing else to say. */
const heartbeatMs = 1000;
/** So long without a word: what feeds the watch is gone. */
const silenceMs = 3000;
const firstRetryMs = 250;
const longestRetryMs = 4000;
/** How long it may take until all that there is was told, from one entry to the next. */
const openMs = 5000;
/** The server waits for a sign that we keep up, and sends nothing before. */
const stalledHeader = 'Nats-Consumer-Stalled';

/** A store as its watches know it. */
export interface WatchedStore {
  readonly stream: string;
  /** The subject of each key begins with this. */
  readonly root: string;
  /** Rejects with `StoreUnavailable` alone. */
  ask<Answer>(doing: string, question: () => Promise<Answer>): Promise<Answer>;
  /** At the leader. */
  get(key: string): Promise<StoredEntry | undefined>;
  /** Is told of each revision. */
  see(revision: number): void;
}

export interface NatsWatchOptions {
  link: NatsLink;
  store: WatchedStore;
  prefix: string;
  listener: (change: StoreChange) => void;
  logger: Logger;
  onClose: () => void;
}

/** One life of what feeds the watch: the last entry of each key, then each write, numbered. */
interface Feed {
  subscription: Subscription;
  /** Of the last message. */
  number: number;
  /** Keys that it has told of, until it has told all that there was. */
  seen: Set<string> | undefined;
}

/**
 * Tells a prefix of a bucket. What feeds it is made anew when it falls silent, skips a number, or the connection was lost; it then begins with
 * all that there is. Messages come in the order of their revisions: so what is not above the highest that was told has been told, or what
 * came after it, also when a server that lags behind says it.
 *
 * NATS' client has ordered consumers, which do less: they notice silence after a minute, do not say which heartbeats mean that the server
 * waits for us, go on behind the last message where a store that was lost begins below it, and leave each consumer at the server for five
 * minutes.
 */
export class NatsWatch implements StoreWatch {
  readonly #options: NatsWatchOptions;
  /** The revision of each key that is there, as was told. */
  readonly #there = new Map<string, number>();
  readonly #closers: (() => void)[];
  #told = 0;
  #feed: Feed | undefined;
  #heardMs = performance.now();
  #retryMs = firstRetryMs;
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** Settles the promise of `open`. */
  #opened: ((error?: Error) => void) | undefined;

  constructor(options: NatsWatchOptions) {
    this.#options = options;
    this.#closers = [options.onClose];
  }

  /** Resolves when all that there is was told. Rejects, and is closed, if that fails. */
  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#opened = (error) => (error === undefined ? resolve() : reject(error));
      const watchdog = setInterval(() => this.#check(), heartbeatMs / 2).unref();
      const renew = (isConnected: boolean): void => void (isConnected && this.#opened === undefined && this.#renew());
      this.#closers.push(() => clearInterval(watchdog), this.#options.link.onConnection(renew));
      void this.#renew();
    });
  }

  close(): void {
    this.#close(new StoreUnavailable('The watch was closed.'));
  }

  #close(why: StoreUnavailable): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#dropFeed();
    for (const close of this.#closers) close();
    this.#settle(why);
  }

  #dropFeed(): void {
    this.#feed?.subscription.unsubscribe();
    this.#feed = undefined;
  }

  #check(): void {
    const silentMs = performance.now() - this.#heardMs;
    if (this.#opened !== undefined) {
      // Also without a connection: whoever waits is told in time.
      if (silentMs <= openMs) return;
      this.#close(new StoreUnavailable(`NATS did not say within ${openMs / 1000} s what there is below "${this.#options.prefix}".`));
    } else if (this.#feed !== undefined && this.#options.link.isConnected && silentMs > silenceMs) {
      void this.#renew();
    }
  }

  /** Makes what feeds the watch, in the place of what did. */
  async #renew(): Promise<void> {
    const { link, store, prefix, logger } = this.#options;
    clearTimeout(this.#retry);
    this.#dropFeed();
    this.#heardMs = performance.now();
    let feed: Feed | undefined;
    try {
      const inbox = createInbox();
      const made: Feed = { subscription: link.listen(inbox, (message) => this.#hear(made, message)), number: 0, seen: new Set() };
      feed = this.#feed = made;
      if (this.#told > 0) await this.#noticeOtherStore();
      const pending = await this.#createConsumer(`${store.root}${prefix}>`, inbox);
      if (this.#feed === made && pending === 0) this.#endOfFirst(made);
    } catch (error) {
      if (this.#feed !== feed) return;
      if (this.#opened !== undefined) {
        return this.#close(error instanceof StoreUnavailable ? error : new StoreUnavailable(`NATS: ${messageOf(error)}.`, error));
      }
      logger.debug('cluster: a watch could not be renewed', { prefix, error: messageOf(error) });
      this.#retryLater();
    }
  }

  #retryLater(): void {
    this.#dropFeed();
    this.#retry = setTimeout(() => void this.#renew(), this.#retryMs).unref();
    this.#retryMs = Math.min(longestRetryMs, this.#retryMs * 2);
  }

  /** A store that was put back from a copy begins again below what was told: then all of it is news. */
  async #noticeOtherStore(): Promise<void> {
    const { link, store } = this.#options;
    const { state } = await store.ask(`look at the stream "${store.stream}"`, () => link.manager.streams.info(store.stream));
    const last = state.last_seq;
    if (last >= this.#told) return;
    this.#options.logger.warn('cluster: what NATS has stored is older than what it said before', { last, told: this.#told });
    this.#told = 0;
  }

  /** Resolves to how many messages come at first. */
  async #createConsumer(subject: string, inbox: string): Promise<number> {
    const { link, store } = this.#options;
    const create = () =>
      link.manager.consumers.add(store.stream, {
        name: `notebridge-${randomUUID()}`,
        deliver_subject: inbox,
        deliver_policy: 'last_per_subject',
        ack_policy: 'none',
        replay_policy: 'instant',
        filter_subject: subject,
        max_deliver: 1,
        mem_storage: true,
        num_replicas: 1,
        flow_control: true,
        idle_heartbeat: heartbeatMs * 1e6,
        inactive_threshold: 5e9,
      });
    return (await store.ask(`watch "${subject}"`, create)).num_pending;
  }

  #hear(feed: Feed, message: Msg): void {
    if (feed !== this.#feed) return;
    const code = message.headers?.code ?? 0;
    // One that waits for us, and does not hear us, is as good as silent.
    if (message.headers?.has(stalledHeader) !== true) this.#heardMs = performance.now();
    if (code !== 0) return this.#hearStatus(feed, message);
    const place = placeOf(message.reply ?? '');
    if (place === undefined) return;
    if (place.number !== feed.number + 1) return void this.#renew();
    feed.number = place.number;
    this.#tell(feed, message, place.revision);
    if (place.pending === 0 && feed === this.#feed) this.#endOfFirst(feed);
  }

  #hearStatus(feed: Feed, message: Msg): void {
    // The consumer is gone, or its server.
    if (message.headers?.code !== 100) return void this.#renew();
    const stalled = message.headers.get(stalledHeader);
    const asks = message.reply !== undefined && message.reply !== '' ? message.reply : stalled;
    if (asks !== '') this.#options.link.send(asks);
    const last = message.headers.get('Nats-Last-Consumer');
    if (last === '') return;
    if (Number(last) !== feed.number) return void this.#renew();
    // It has nothing more to say, or may not yet.
    if (stalled === '') this.#endOfFirst(feed);
  }

  #tell(feed: Feed, message: Msg, revision: number): void {
    const { store } = this.#options;
    const key = message.subject.slice(store.root.length);
    feed.seen?.add(key);
    if (revision <= this.#told) return;
    this.#told = revision;
    store.see(revision);
    if (!isGone(message.headers)) {
      this.#there.set(key, revision);
      this.#say({ key, entry: { key, value: Buffer.from(message.data).toString(), revision }, revision });
    } else if (this.#there.delete(key)) {
      this.#say({ key, entry: undefined, revision });
    }
  }

  /** All that there is was told. What was there before, and is not among it, may be gone so long that nothing says so any more. */
  #endOfFirst(feed: Feed): void {
    const { seen } = feed;
    if (seen === undefined) return;
    feed.seen = undefined;
    this.#retryMs = firstRetryMs;
    this.#settle();
    const missing = [...this.#there].filter(([key]) => !seen.has(key));
    if (missing.length > 0) void this.#askFor(feed, missing);
  }

  async #askFor(feed: Feed, missing: [string, number][]): Promise<void> {
    const { store } = this.#options;
    try {
      for (const [key, revision] of missing) {
        const entry = await store.get(key);
        if (feed !== this.#feed) return;
        if (entry !== undefined || this.#there.get(key) !== revision) continue;
        this.#there.delete(key);
        // Below that of any later entry of the key.
        this.#say({ key, entry: undefined, revision: revision + 1 });
      }
    } catch {
      if (feed === this.#feed) this.#retryLater();
    }
  }

  #say(change: StoreChange): void {
    try {
      this.#options.listener(change);
    } catch (error) {
      this.#options.logger.error('cluster: what watches the store has thrown', { key: change.key, error: messageOf(error) });
    }
  }

  #settle(error?: StoreUnavailable): void {
    const settle = this.#opened;
    this.#opened = undefined;
    settle?.(error);
  }
}

/** True if the headers say that the message is a mark in the place of an entry that was removed, or whose time has run out. */
export function isGone(headers: MsgHdrs | undefined): boolean {
  if (headers === undefined) return false;
  return ['DEL', 'PURGE'].includes(headers.get('KV-Operation')) || headers.has('Nats-Marker-Reason');
}

/** `$JS.ACK.STREAM.CONSUMER.DELIVERED.SEQUENCE.NUMBER.TIME.PENDING`, of newer servers with domain and account behind `ACK`. */
function placeOf(reply: string): { revision: number; number: number; pending: number } | undefined {
  const tokens = reply.split('.');
  if (tokens[0] !== '$JS' || tokens[1] !== 'ACK') return undefined;
  const [, revision, number, , pending] = tokens.slice(tokens.length === 9 ? 4 : 6);
  return { revision: Number(revision), number: Number(number), pending: Number(pending) };
}
