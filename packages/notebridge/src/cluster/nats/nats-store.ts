import { isJsonObject } from '@notebridge/kit/json';
import type { Logger } from '@notebridge/kit/logger';
import {
  assertStoreKey,
  assertStorePrefix,
  assertStoreValue,
  type SharedStore,
  type StoreChange,
  StoreConflict,
  type StoredEntry,
  StoreUnavailable,
  type StoreWatch,
  type WriteOptions,
} from '../../state/shared-store.js';
import { Slots } from '../../util/slots.js';
import { hubPrefix } from '../lease-entries.js';
import { JetStreamFault, type NatsLink } from './nats-link.js';
import { streamInfo, toFault, toStream } from './nats-streams.js';
import { isGone, NatsWatch, type WatchedStore } from './nats-watch.js';

/** The last message of the key had another sequence than the one that was to be written over. */
const wrongSequence = new Set([10_071, 10_164]);
/**
 * Questions that are under way at once. The others wait here: of ten thousand at once the last would be late at a server that answers all of
 * them in turn, and so would the renewal of a lease behind them. Those have no need to wait.
 */
const mostAtOnce = 256;
/** Who answers in the name of NATS could say any number: a store that is made anew above it would have none left, or none that is exact. */
const highestBelievable = 2 ** 52;
const noMessage = 10_037;
const noStream = 10_059;
/** A mark that a key was removed is gone after so long, as those that the server makes. */
const markerTtl = '600s';

interface StoredMessage {
  message: { subject: string; seq: number; hdrs?: string; data?: string };
}

/** The last message of a key: an entry, or the mark that it is gone. */
interface LastMessage {
  entry: StoredEntry | undefined;
  revision: number;
}

export interface NatsStoreOptions {
  link: NatsLink;
  bucket: string;
  logger: Logger;
  /** Called when the bucket is found to be missing: NATS has lost it. */
  onMissing: () => void;
}

/** A bucket of NATS: entries as its own tools write and read them. */
export class NatsStore implements SharedStore {
  readonly #link: NatsLink;
  readonly #logger: Logger;
  readonly #stream: string;
  readonly #prefix: string;
  readonly #onMissing: () => void;
  readonly #watches = new Set<NatsWatch>();
  readonly #slots = new Slots(mostAtOnce);
  /** The highest that was seen. */
  #highest = 0;

  constructor({ link, bucket, logger, onMissing }: NatsStoreOptions) {
    this.#link = link;
    this.#logger = logger;
    this.#stream = toStream(bucket);
    this.#prefix = `$KV.${bucket}.`;
    this.#onMissing = onMissing;
  }

  get highestRevision(): number {
    return this.#highest;
  }

  async get(key: string): Promise<StoredEntry | undefined> {
    assertStoreKey(key);
    return (await this.#last(key))?.entry;
  }

  async list(prefix: string): Promise<StoredEntry[]> {
    assertStorePrefix(prefix);
    const entries = new Map<string, StoredEntry>();
    const watch = await this.watch(prefix, ({ key, entry }) => (entry === undefined ? entries.delete(key) : entries.set(key, entry)));
    watch.close();
    return [...entries.values()];
  }

  async create(key: string, value: string, options: WriteOptions = {}): Promise<number> {
    assertStoreKey(key);
    assertStoreValue(value);
    let over = 0;
    // A mark in the place of an entry that is gone has a sequence too, and may itself go at any moment: each try is one decision of the leader.
    for (let tries = 0; tries < 5; tries += 1) {
      try {
        return await this.#write(key, value, { over, ...options });
      } catch (error) {
        if (!(error instanceof StoreConflict)) throw error;
        const last = await this.#last(key);
        if (last?.entry !== undefined) throw error;
        over = last?.revision ?? 0;
      }
    }
    throw new StoreConflict(key);
  }

  async update(key: string, value: string, revision: number, options: WriteOptions = {}): Promise<number> {
    assertStoreKey(key);
    assertStoreValue(value);
    if (revision <= 0) throw new StoreConflict(key);
    return this.#write(key, value, { over: revision, ...options });
  }

  async remove(key: string, revision: number): Promise<void> {
    assertStoreKey(key);
    if (revision <= 0) throw new StoreConflict(key);
    await this.#publish(key, '', { over: revision, headers: { 'KV-Operation': 'DEL', 'Nats-TTL': markerTtl } });
  }

  async watch(prefix: string, listener: (change: StoreChange) => void): Promise<StoreWatch> {
    assertStorePrefix(prefix);
    const watch = new NatsWatch({ link: this.#link, store: this.#watched, prefix, listener, logger: this.#logger });
    this.#watches.add(watch);
    watch.onClosed(() => this.#watches.delete(watch));
    await watch.open();
    return watch;
  }

  close(): void {
    for (const watch of [...this.#watches]) watch.close();
  }

  readonly #watched: WatchedStore = {
    subjectOf: (prefix) => `${this.#prefix}${prefix}>`,
    keyOf: (subject) => subject.slice(this.#prefix.length),
    stream: () => this.#stream,
    read: async (key) => (await this.#last(key))?.entry,
    lastRevision: async () => {
      const info = await streamInfo(this.#link, this.#stream);
      if (info === undefined) throw this.#missing();
      return info.state.last_seq;
    },
    missing: () => this.#missing(),
    saw: (revision) => this.#see(revision),
  };

  async #write(key: string, value: string, { over, ttlMs }: WriteOptions & { over: number }): Promise<number> {
    const headers = ttlMs === undefined ? {} : { 'Nats-TTL': `${Math.max(1, Math.ceil(ttlMs / 1000))}s` };
    return this.#publish(key, value, { over, headers });
  }

  async #publish(key: string, value: string, { over, headers }: { over: number; headers: Record<string, string> }): Promise<number> {
    const expected = { 'Nats-Expected-Last-Subject-Sequence': String(over), 'Nats-Expected-Stream': this.#stream };
    try {
      const ask = () => this.#link.ask<{ seq: number }>(`${this.#prefix}${key}`, value, { ...expected, ...headers });
      const { seq } = await this.#inTurn(key, ask);
      this.#see(seq);
      return seq;
    } catch (error) {
      if (error instanceof StoreUnavailable) this.#onMissing();
      if (!(error instanceof JetStreamFault)) throw error;
      if (wrongSequence.has(error.errCode)) throw new StoreConflict(key);
      throw toStoreFault(`write "${key}"`, error);
    }
  }

  /** Asked of the leader: of who just wrote it, so that who decides by it seldom does so in vain. */
  async #last(key: string): Promise<LastMessage | undefined> {
    try {
      const question = { last_by_subj: `${this.#prefix}${key}` };
      const ask = () => this.#link.ask<StoredMessage>(`$JS.API.STREAM.MSG.GET.${this.#stream}`, question);
      const { message } = await this.#inTurn(key, ask);
      const { seq, hdrs = '', data = '' } = message;
      this.#see(seq);
      const isMark = isGone(Buffer.from(hdrs, 'base64').toString('latin1'));
      return { entry: isMark ? undefined : { key, value: Buffer.from(data, 'base64').toString(), revision: seq }, revision: seq };
    } catch (error) {
      if (!(error instanceof JetStreamFault)) throw error;
      if (error.errCode === noMessage) return undefined;
      throw error.errCode === noStream ? this.#missing() : toStoreFault(`read "${key}"`, error);
    }
  }

  #inTurn<Answer>(key: string, ask: () => Promise<Answer>): Promise<Answer> {
    return key.startsWith(hubPrefix) ? ask() : this.#slots.run(ask);
  }

  #missing(): StoreUnavailable {
    this.#onMissing();
    return new StoreUnavailable(`NATS has lost what the hubs had stored there ("${this.#stream}"). It is made anew.`);
  }

  #see(revision: number): void {
    if (revision > this.#highest && revision < highestBelievable) this.#highest = revision;
  }
}

/** Whoever asks knows two ways in which a store fails. */
function toStoreFault(doing: string, fault: JetStreamFault): StoreUnavailable {
  const error = toFault(doing, fault);
  return error instanceof StoreUnavailable
    ? error
    : new StoreUnavailable(isJsonObject(error) ? String(error.message) : String(fault), fault);
}
