import type { JetStreamPublishOptions } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import type { Logger } from '@notebridge/protocol/util/logger';
import { Slots } from '@notebridge/protocol/util/slots';
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
} from '@notebridge/system/files/shared-store';
import { hubPrefix } from '../lease-entries.js';
import { type NatsLink, NatsRefusal } from './nats-link.js';
import { noStream, toStream } from './nats-streams.js';
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
/** A mark that a key was removed is gone after so long, as those that the server makes. */
const markerTtl = '600s';

export interface NatsStoreOptions {
  link: NatsLink;
  bucket: string;
  logger: Logger;
  /** Called when the bucket is found to be missing: NATS has lost it. */
  onMissing: () => void;
}

/**
 * A bucket of NATS: entries as its own tools write and read them. NATS' client for buckets can neither give an entry that is written over a
 * new end, nor a mark that a key was removed, and its watch notices after a minute that nothing feeds it; so these are made of streams.
 */
export class NatsStore implements SharedStore, WatchedStore {
  readonly stream: string;
  readonly root: string;
  readonly #link: NatsLink;
  readonly #logger: Logger;
  readonly #onMissing: () => void;
  readonly #watches = new Set<NatsWatch>();
  readonly #slots = new Slots(mostAtOnce);
  /** The highest that was seen. */
  #highest = 0;

  constructor({ link, bucket, logger, onMissing }: NatsStoreOptions) {
    this.#link = link;
    this.#logger = logger;
    this.stream = toStream(bucket);
    this.root = `$KV.${bucket}.`;
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
        return await this.#write(key, value, over, toTtl(options));
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
    return this.#write(key, value, revision, toTtl(options));
  }

  async remove(key: string, revision: number): Promise<void> {
    assertStoreKey(key);
    if (revision <= 0) throw new StoreConflict(key);
    const isMark = headers();
    isMark.set('KV-Operation', 'DEL');
    await this.#write(key, '', revision, { headers: isMark, ttl: markerTtl });
  }

  async watch(prefix: string, listener: (change: StoreChange) => void): Promise<StoreWatch> {
    assertStorePrefix(prefix);
    const watch = new NatsWatch({
      ...{ link: this.#link, store: this, prefix, listener, logger: this.#logger },
      onClose: () => this.#watches.delete(watch),
    });
    this.#watches.add(watch);
    await watch.open();
    return watch;
  }

  close(): void {
    for (const watch of [...this.#watches]) watch.close();
  }

  /** Asks for what is in the stream. */
  async ask<Answer>(doing: string, question: () => Promise<Answer>): Promise<Answer> {
    try {
      return await this.#link.ask(doing, question);
    } catch (error) {
      if (!(error instanceof NatsRefusal && error.code === noStream)) throw error;
      this.#onMissing();
      throw new StoreUnavailable(`NATS has lost what the hubs had stored there ("${this.stream}"). It is made anew.`, error);
    }
  }

  see(revision: number): void {
    if (revision > this.#highest && revision < highestBelievable) this.#highest = revision;
  }

  /** Over the last message of the key, if it has this revision; 0: if there is none. */
  async #write(key: string, value: string, over: number, options: Partial<JetStreamPublishOptions>): Promise<number> {
    const { client } = this.#link;
    const expect = { streamName: this.stream, lastSubjectSequence: over };
    const write = (timeout: number) => client.publish(`${this.root}${key}`, value, { ...options, expect, timeout });
    try {
      const { seq } = await this.#inTurn(key, () => this.#link.ask(`write "${key}"`, write));
      this.see(seq);
      return seq;
    } catch (error) {
      if (!(error instanceof NatsRefusal)) this.#onMissing();
      else if (error.code !== undefined && wrongSequence.has(error.code)) throw new StoreConflict(key);
      throw error;
    }
  }

  /** The last message of the key: an entry, or the mark that it is gone. Asked of the leader: of who just wrote it, so that who decides by it seldom does so in vain. */
  async #last(key: string): Promise<{ entry: StoredEntry | undefined; revision: number } | undefined> {
    const { streams } = this.#link.manager;
    const read = () => streams.getMessage(this.stream, { last_by_subj: `${this.root}${key}` });
    const message = await this.#inTurn(key, () => this.ask(`read "${key}"`, read));
    if (message === null) return undefined;
    const { seq: revision, header, data } = message;
    this.see(revision);
    return { entry: isGone(header) ? undefined : { key, value: Buffer.from(data).toString(), revision }, revision };
  }

  #inTurn<Answer>(key: string, ask: () => Promise<Answer>): Promise<Answer> {
    return key.startsWith(hubPrefix) ? ask() : this.#slots.run(ask);
  }
}

function toTtl({ ttlMs }: WriteOptions): { ttl?: string } {
  return ttlMs === undefined ? {} : { ttl: `${Math.max(1, Math.ceil(ttlMs / 1000))}s` };
}
