import { BridgeError } from '@notebridge/protocol/core/errors';
import { StoreConflict } from '@notebridge/system/files/shared-store';
import type { HubView, Membership, StoreParts } from './cluster-parts.js';
import { HubsView } from './hubs-view.js';
import { endMarkMs, hubPrefix, leaseMs, parseLeaseEntry, printLeaseEntry } from './lease-entries.js';

const renewMs = 2_500;
/** The same while a renewal is not answered, so that a store that was away for six seconds costs no lease. */
const againMs = 1_000;
/** A hub stops so long before the store may drop its lease: a second, and half a percent for clocks that go at different rates. */
const marginMs = 1_000 + leaseMs / 200;
/** A read that is older than what is known is made again after this time. */
const rereadMs = 250;

export interface HubLeaseOptions extends StoreParts {
  /** What others see of this hub. */
  about: Pick<HubView, 'name' | 'version' | 'wire' | 'url'>;
}

/**
 * The lease of this hub. It counts from the moment before the renewal was sent that was answered, or that was found in the store: the
 * store's own time begins later. Renewals overlap, so one that hangs costs nothing; which of them was made the revision decides.
 */
export class HubLease implements Membership {
  readonly #options: HubLeaseOptions;
  readonly #others: HubsView;
  readonly #listeners = new Set<() => void>();
  readonly #formerIds = new Set<string>();
  #self: HubView;
  /** Of this life's entry. Undefined: none was written yet, as far as is known. */
  #revision: number | undefined;
  /** When the renewals were sent that may still be answered, by their number. */
  readonly #sentAt = new Map<number, number>();
  #renewals = 0;
  #validUntil = Number.NEGATIVE_INFINITY;
  #isJoined = false;
  #state: 'new' | 'open' | 'closed' = 'new';
  #stopBeat: (() => void) | undefined;
  #stopEnd: (() => void) | undefined;
  #isReading = false;

  constructor(options: HubLeaseOptions) {
    const { store, runtime, logger, about } = options;
    this.#options = options;
    this.#self = { ...about, id: this.#newId(), startedAt: runtime.now(), load: 0, isDraining: false };
    this.#others = new HubsView({ store, runtime, logger, onChange: () => this.#tell() });
  }

  get self(): HubView {
    return this.#self;
  }

  isHeld(): boolean {
    return this.#isJoined && this.#options.runtime.steady() < this.#validUntil;
  }

  hubs(): readonly HubView[] {
    const others = this.#others.hubs.filter(({ id }) => id !== this.#self.id && !this.#formerIds.has(id));
    return this.isHeld() ? [this.#self, ...others] : others;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Joins the cluster, and again whenever the lease is lost. Resolves when the lease is held for the first time; rejects if it is left before. */
  async start(): Promise<void> {
    if (this.#state !== 'new') throw new BridgeError('closed', 'The lease of this hub was started before.');
    this.#state = 'open';
    this.#others.open();
    this.#beat();
    await new Promise<void>((resolve, reject) => {
      const stop = this.subscribe(() => {
        if (!this.isHeld() && this.#state === 'open') return;
        stop();
        if (this.isHeld()) resolve();
        else reject(new BridgeError('closed', 'This hub left its cluster before it had joined.'));
      });
    });
  }

  /** Others see it with the next renewal. */
  setLoad(load: number): void {
    this.#self = { ...this.#self, load };
  }

  /** Where its doors are. Others see it with the next renewal. */
  setAddresses(addresses: Required<Pick<HubView, 'url' | 'askAt'>>): void {
    this.#self = { ...this.#self, ...addresses };
  }

  /** Others see it at once. */
  setDraining(isDraining: boolean): void {
    if (this.#self.isDraining === isDraining) return;
    this.#self = { ...this.#self, isDraining };
    if (this.#state === 'open') this.#beat();
    this.#tell();
  }

  /** Ends the lease for all, and for good. Never rejects: what can't be written runs out. Release claims before. */
  async leave(): Promise<void> {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#stopBeat?.();
    this.#others.close();
    const ended = this.#end();
    this.#tell();
    await ended;
  }

  /** Writes the lease, and again in a while, whatever becomes of this time. */
  #beat(): void {
    this.#stopBeat?.();
    const { store, runtime } = this.#options;
    const isAnswered = this.#validUntil - runtime.steady() > leaseMs - marginMs - renewMs - againMs;
    this.#stopBeat = runtime.after(isAnswered ? renewMs : againMs, () => this.#beat());
    const { id } = this.#self;
    const revision = this.#revision;
    const renewal = ++this.#renewals;
    this.#noteSent(renewal, runtime.steady());
    const text = printLeaseEntry({ view: this.#self, renewal });
    const options = { ttlMs: leaseMs };
    const written =
      revision === undefined ? store.create(hubPrefix + id, text, options) : store.update(hubPrefix + id, text, revision, options);
    written.then(
      (made) => {
        if (this.#isOf(id)) this.#confirm(renewal, made);
      },
      (error: unknown) => {
        // Without an answer the next renewal finds out what has become of this one.
        if (error instanceof StoreConflict && this.#isOf(id)) void this.#readBack(revision);
      },
    );
  }

  #noteSent(renewal: number, now: number): void {
    this.#sentAt.set(renewal, now);
    // Of no use any more: a lease that began then has run out.
    for (const [number, at] of this.#sentAt) if (at < now - leaseMs) this.#sentAt.delete(number);
  }

  /** The renewal of this number is what stands in the store, or stood there. */
  #confirm(renewal: number, revision: number): void {
    if (revision <= (this.#revision ?? 0)) return;
    this.#revision = revision;
    const sentAt = this.#sentAt.get(renewal);
    for (const number of this.#sentAt.keys()) if (number <= renewal) this.#sentAt.delete(number);
    if (sentAt === undefined) return;
    const { runtime } = this.#options;
    // One that woke up in doubt has the same lease still: who looked in between was told that it is not held.
    const wasHeld = this.isHeld();
    this.#validUntil = Math.max(this.#validUntil, sentAt + leaseMs - marginMs);
    this.#isJoined ||= runtime.steady() < this.#validUntil;
    if (this.#isJoined) this.#watchEnd();
    if (this.isHeld() && !wasHeld) this.#tell();
  }

  /** The entry is of another revision than the one that was to be written over: one of ours whose answer was lost, or an end. */
  async #readBack(revision: number | undefined): Promise<void> {
    if (this.#isReading || this.#revision !== revision) return;
    this.#isReading = true;
    const { id } = this.#self;
    const { store, runtime } = this.#options;
    const entry = await store.get(hubPrefix + id).catch(() => 'unknown' as const);
    this.#isReading = false;
    if (!this.#isOf(id) || this.#revision !== revision || entry === 'unknown') return;
    const parsed = entry && parseLeaseEntry(entry.value);
    if (parsed && parsed !== 'ended' && parsed.view.id === id) {
      if (entry.revision > (revision ?? 0)) {
        this.#confirm(parsed.renewal, entry.revision);
        this.#beat();
      } else runtime.after(rereadMs, () => this.#isOf(id) && void this.#readBack(revision));
    } else if (parsed === 'ended' || revision !== undefined) this.#lose();
    // Else an entry that is new was not seen yet, or has run out: the next renewal finds out.
  }

  #watchEnd(): void {
    const { runtime } = this.#options;
    this.#stopEnd?.();
    this.#stopEnd = runtime.after(this.#validUntil - runtime.steady(), () => {
      if (runtime.steady() < this.#validUntil) this.#watchEnd();
      else this.#lose();
    });
  }

  /** This life is over; the next one has another id, and nothing of what this one had. */
  #lose(): void {
    void this.#end();
    this.#formerIds.add(this.#self.id);
    this.#self = { ...this.#self, id: this.#newId() };
    this.#revision = undefined;
    this.#sentAt.clear();
    this.#tell();
    if (this.#state === 'open') this.#beat();
  }

  /** Nothing is held any more. The mark spares others the wait for the end of the lease, if it can be written. */
  async #end(): Promise<void> {
    const { id } = this.#self;
    let revision = this.#revision;
    // The first write of all may be under way: the mark stands in its place, or goes over it.
    const mayStand = revision !== undefined || this.#sentAt.size > 0;
    this.#stopEnd?.();
    this.#isJoined = false;
    this.#validUntil = Number.NEGATIVE_INFINITY;
    // The first write is sent at once. A renewal that was under way may have come before it: then the mark goes over that one.
    for (let tries = 0; tries === 0 ? mayStand : revision !== undefined && tries < 3; tries += 1)
      revision = await this.#markEnd(id, revision);
  }

  /** Resolves to the revision of a renewal of ours that was written meanwhile. Undefined: marked, or there is nothing more to be done. */
  async #markEnd(id: string, revision: number | undefined): Promise<number | undefined> {
    const { store } = this.#options;
    try {
      const [key, mark, options] = [hubPrefix + id, printLeaseEntry('ended'), { ttlMs: endMarkMs }];
      await (revision === undefined ? store.create(key, mark, options) : store.update(key, mark, revision, options));
    } catch (error) {
      if (!(error instanceof StoreConflict)) return undefined;
      const entry = await store.get(hubPrefix + id).catch(() => undefined);
      const parsed = entry && parseLeaseEntry(entry.value);
      return entry && parsed && parsed !== 'ended' ? entry.revision : undefined;
    }
    return undefined;
  }

  #isOf(id: string): boolean {
    return this.#state === 'open' && this.#self.id === id;
  }

  #newId(): string {
    return this.#options.runtime.bytes(9).toString('base64url');
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
