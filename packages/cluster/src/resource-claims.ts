import { BridgeError } from '@notebridge/protocol/core/errors';
import type { JsonObject } from '@notebridge/protocol/json';
import { type StoreChange, StoreConflict, StoreUnavailable } from '@notebridge/system/files/shared-store';
import { type ClaimEntry, claimPrefix, parseClaimEntry, printClaimEntry } from './claim-entries.js';
import { ClaimsView, type KnownClaim, toRecord } from './claims-view.js';
import type { About, Claim, ClaimRecord, Claims, ClusterParts, Owned, StoreParts } from './cluster-parts.js';
import { HeldClaim } from './held-claim.js';
import { keepWatching } from './keep-watching.js';
import { rememberEnded } from './lease-entries.js';
import { ResourceTurns } from './resource-turns.js';

/** An old read is made again after so long, and so many times. */
const rereadMs = 100;
const maxRereads = 10;
/** Others may write in between: after so many times it is given up. */
const maxTries = 8;
/** Entries in our name that nobody here has are looked for as often as this. */
const tidyMs = 2_500;
/** So many claims are released at the same time. */
const releasesAtOnce = 64;

/**
 * What this hub has, and what others have. One write takes a resource and one releases it; nothing is renewed, since the lease of the hub
 * holds all it has. A write whose answer was lost leaves an entry in our name: whoever takes the resource next here finds it, and what
 * nobody takes is released (`#tidy`).
 */
export class ResourceClaims implements Claims {
  readonly #options: StoreParts & Pick<ClusterParts, 'membership'>;
  readonly #view = new ClaimsView();
  readonly #held = new Map<string, HeldClaim>();
  readonly #turns = new ResourceTurns();
  /** In our name, as was told, and not held here: whether the entry is to be kept with its epoch, or removed. */
  readonly #strays = new Map<string, 'keep' | 'forget'>();
  readonly #listeners = new Set<(resource: string) => void>();
  readonly #isEnded: (hub: string) => Promise<boolean>;
  #aliveHubs: ReadonlySet<string> = new Set();
  #hubId: string;
  #isClosed = false;
  #stops: (() => void)[] = [];
  #stopTidy: (() => void) | undefined;

  constructor(options: StoreParts & Pick<ClusterParts, 'membership'>) {
    this.#options = options;
    this.#isEnded = rememberEnded(options.store);
    this.#hubId = options.membership.self.id;
  }

  /** Begins to watch. Resolves when all that there is has been told. */
  start(): Promise<void> {
    const { store, runtime, membership, logger } = this.#options;
    this.#stops.push(membership.subscribe(() => this.#onMembership()));
    this.#onMembership();
    this.#stopTidy = runtime.after(tidyMs, () => this.#tidy());
    return new Promise((resolve) => {
      const listener = ({ key, entry, revision }: StoreChange) =>
        this.#note(key.slice(claimPrefix.length), entry && parseClaimEntry(entry.value), revision);
      this.#stops.push(keepWatching({ store, runtime, logger, prefix: claimPrefix, listener, onTold: resolve }), resolve);
    });
  }

  take(resource: string, about: About = {}): Promise<Claim | undefined> {
    return this.#turns.run(resource, async () => {
      const held = this.#held.get(resource);
      if (held) {
        this.#assertMember(held.hub);
        return held;
      }
      return await this.#take(resource, about);
    });
  }

  held(resource: string): Claim | undefined {
    return this.#held.get(resource);
  }

  ownerOf(resource: string): Owned | undefined {
    const known = this.#view.get(resource);
    return known && this.#toOwned(resource, known);
  }

  list(prefix: string): readonly Owned[] {
    return [...this.#view.below(prefix)].flatMap(([resource, known]) => this.#toOwned(resource, known) ?? []);
  }

  recordOf(resource: string): ClaimRecord | undefined {
    const known = this.#view.get(resource);
    return known && toRecord(resource, known);
  }

  records(prefix: string): readonly ClaimRecord[] {
    return [...this.#view.below(prefix)].map(([resource, known]) => toRecord(resource, known));
  }

  subscribe(listener: (resource: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Releases all that is held, and takes no more. Never rejects. The lease is left after it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTidy?.();
    const held = [...this.#held.values()];
    for (const claim of held) claim.end();
    // A take that is under way may still be written in our name.
    const strays = new Set([...this.#strays.keys(), ...this.#turns.resources]);
    const left = [...held.map((claim) => () => this.#release(claim, false)), ...[...strays].map((resource) => () => this.#clean(resource))];
    const next = async () => {
      // Without the store all of it runs out with the lease.
      for (let give = left.shift(); give; give = left.shift()) if (!(await give())) left.length = 0;
    };
    await Promise.all(Array.from({ length: releasesAtOnce }, next));
    for (const stop of this.#stops) stop();
    this.#stops = [];
  }

  async #take(resource: string, about: About): Promise<Claim | undefined> {
    const { membership, runtime } = this.#options;
    const hub = membership.self.id;
    let known = this.#view.get(resource);
    let isFresh = false;
    for (let tries = 0; tries < maxTries; tries += 1) {
      this.#assertMember(hub);
      const owner = known?.entry.hub;
      if (known && owner && owner !== hub && (this.#aliveHubs.has(owner) || !(await this.#isEnded(owner)))) {
        if (isFresh) return undefined;
        // Before we say that another has it, we look once more: it may have released it since we were told.
        known = await this.#newest(resource, 0);
        isFresh = true;
        continue;
      }
      this.#assertMember(hub);
      const epoch = known ? known.entry.epoch + (owner === hub ? 0 : 1) : 1;
      try {
        const said = typeof about === 'function' ? about(known?.entry.about ?? {}) : about;
        const revision = await this.#write(resource, { hub, epoch, about: said }, known?.revision);
        return this.#hold(resource, { hub, epoch, revision });
      } catch (error) {
        if (!(error instanceof StoreConflict)) throw error;
        known = await this.#newest(resource, known?.revision ?? 0);
        isFresh = true;
        // There was one a moment ago: the read was old, or it is gone again.
        if (!known) await new Promise<void>((resolve) => runtime.after(rereadMs, resolve));
      }
    }
    throw new StoreUnavailable(`"${resource}" was written by others each time that this hub tried to take it.`);
  }

  #hold(resource: string, { hub, epoch, revision }: { hub: string; epoch: number; revision: number }): Claim {
    const { membership } = this.#options;
    // The answer may be old: of a life of this hub that is over, or about to end, since the process was stopped. Others may have it by now.
    this.#assertMember(hub);
    const claim = new HeldClaim({
      ...{ resource, epoch, hub, revision, membership },
      describe: (held, about) => this.#turns.run(resource, () => this.#describe(held, about)),
      release: async (held, isForgotten) => {
        await this.#release(held, isForgotten);
      },
    });
    this.#held.set(resource, claim);
    this.#strays.delete(resource);
    return claim;
  }

  async #describe(claim: HeldClaim, about: JsonObject): Promise<void> {
    const { resource, hub, epoch } = claim;
    for (let tries = 0; tries < maxTries; tries += 1) {
      if (claim.isOver) throw new StoreConflict(claimPrefix + resource);
      try {
        claim.revision = await this.#write(resource, { hub, epoch, about }, claim.revision);
        return;
      } catch (error) {
        if (!(error instanceof StoreConflict)) throw error;
        if (await this.#isStillOurs(claim)) continue;
        this.#lose(claim);
        throw error;
      }
    }
    throw new StoreUnavailable(`"${resource}" could not be described.`);
  }

  async #release(claim: HeldClaim, isForgotten: boolean): Promise<boolean> {
    const { resource } = claim;
    if (this.#held.get(resource) === claim) this.#held.delete(resource);
    // Stays one until it is known to be written.
    this.#strays.set(resource, isForgotten ? 'forget' : 'keep');
    return await this.#turns.run(resource, () => this.#giveBack(resource, claim));
  }

  /** Writes that nobody has it. False: the store did not answer; `#tidy` tries again, as long as the lease is held. */
  async #giveBack(resource: string, { hub, epoch, revision }: { hub: string; epoch: number; revision: number }): Promise<boolean> {
    let at = revision;
    for (let tries = 0; tries < maxTries && !this.#held.has(resource); tries += 1) {
      try {
        if (this.#strays.get(resource) === 'forget') await this.#remove(resource, at);
        else await this.#write(resource, { hub: null, epoch, about: this.#view.get(resource)?.entry.about ?? {} }, at);
        break;
      } catch (error) {
        if (!(error instanceof StoreConflict)) return false;
        const known = await this.#read(resource, at).catch(() => 'unknown' as const);
        if (known === 'unknown') return false;
        if (known && known.entry.hub !== hub) break;
        at = known?.revision ?? at;
        if (known) continue;
        // An old read; or a write without an answer has removed it, maybe before the watch could tell.
        if (tries < maxTries - 1) await new Promise<void>((resolve) => this.#options.runtime.after(rereadMs, resolve));
        else if (this.#view.forget(resource, at)) this.#tell(resource);
      }
    }
    this.#strays.delete(resource);
    return true;
  }

  /** After a conflict: true if the entry is one that we have written under this claim, whose answer was lost. */
  async #isStillOurs(claim: HeldClaim): Promise<boolean> {
    const known = await this.#read(claim.resource, claim.revision);
    if (known?.entry.hub !== claim.hub || known.entry.epoch !== claim.epoch) return false;
    claim.revision = known.revision;
    return true;
  }

  /** As `#read`, or newer if somebody has told us. */
  async #newest(resource: string, after: number): Promise<KnownClaim | undefined> {
    const read = await this.#read(resource, after);
    const told = this.#view.get(resource);
    return read && told && told.revision > read.revision ? told : read;
  }

  /** The entry as it is after this revision; undefined: it is not there, or the read was too old to know of it. */
  async #read(resource: string, after: number): Promise<KnownClaim | undefined> {
    const { store, runtime } = this.#options;
    for (let reads = 0; reads < maxRereads; reads += 1) {
      if (reads > 0) await new Promise<void>((resolve) => runtime.after(rereadMs, resolve));
      const found = await store.get(claimPrefix + resource);
      const entry = found && parseClaimEntry(found.value);
      if (found && !entry) throw new StoreUnavailable(`The entry of "${resource}" in the store is not one of Notebridge.`);
      if (!found || !entry) return undefined;
      // What the watch has not told, or told to be gone, no read adds: it may be old, and nothing would ever take it away again.
      if (this.#view.get(resource)) this.#note(resource, entry, found.revision);
      if (found.revision > after) return { entry, revision: found.revision };
    }
    throw new StoreUnavailable(`The store gave only old entries of "${resource}".`);
  }

  async #write(resource: string, entry: ClaimEntry, over: number | undefined): Promise<number> {
    const { store } = this.#options;
    const key = claimPrefix + resource;
    const text = printClaimEntry(entry);
    const revision = over === undefined ? await store.create(key, text) : await store.update(key, text, over);
    this.#note(resource, entry, revision);
    return revision;
  }

  async #remove(resource: string, revision: number): Promise<void> {
    await this.#options.store.remove(claimPrefix + resource, revision);
    this.#view.noteRemoved(resource, revision);
    this.#tell(resource);
  }

  #note(resource: string, entry: ClaimEntry | undefined, revision: number): void {
    const about = this.#view.get(resource)?.entry.about ?? {};
    if (!this.#view.note(resource, entry, revision)) return;
    const held = this.#held.get(resource);
    if (held && revision > held.revision) {
      // No hub of ours writes over what is held: somebody without our key has, or has made another hub believe that it may.
      if (entry === undefined) void this.#turns.run(resource, () => this.#putBack(held, about, revision));
      else if (entry.hub !== held.hub || entry.epoch !== held.epoch) this.#lose(held);
    }
    if (entry?.hub === this.#hubId && !this.#held.has(resource) && !this.#strays.has(resource)) this.#strays.set(resource, 'keep');
    this.#tell(resource);
  }

  /** Writes the entry of what is held again, in the place of nothing, or of what no hub has written. Another hub may be faster, and has it then. */
  async #putBack(claim: HeldClaim, about: JsonObject, over: number): Promise<void> {
    if (claim.isOver || claim.revision > over) return;
    const entry = { hub: claim.hub, epoch: claim.epoch, about };
    try {
      claim.revision = await this.#write(claim.resource, entry, undefined).catch((error: unknown) => {
        if (error instanceof StoreConflict) return this.#write(claim.resource, entry, over);
        throw error;
      });
    } catch {
      this.#lose(claim);
    }
  }

  /** Releases what stands in our name and nobody here has: a write whose answer was lost, or that arrived late. */
  #tidy(): void {
    const { runtime, membership } = this.#options;
    this.#stopTidy = runtime.after(tidyMs, () => this.#tidy());
    if (!membership.isHeld()) return;
    for (const resource of this.#strays.keys()) if (!this.#turns.has(resource)) void this.#clean(resource);
  }

  #clean(resource: string): Promise<boolean> {
    return this.#turns.run(resource, async () => {
      const known = this.#view.get(resource);
      if (known?.entry.hub === this.#hubId && !this.#held.has(resource))
        return this.#giveBack(resource, { hub: this.#hubId, epoch: known.entry.epoch, revision: known.revision });
      this.#strays.delete(resource);
      return true;
    });
  }

  #onMembership(): void {
    const { membership } = this.#options;
    const { id } = membership.self;
    if (id !== this.#hubId) {
      this.#hubId = id;
      this.#strays.clear();
      for (const claim of [...this.#held.values()]) this.#lose(claim);
    }
    const before = this.#aliveHubs;
    this.#aliveHubs = new Set(membership.hubs().map((hub) => hub.id));
    const changed = [...before, ...this.#aliveHubs].filter((hub) => before.has(hub) !== this.#aliveHubs.has(hub));
    for (const hub of changed) for (const resource of this.#view.of(hub)) this.#tell(resource);
  }

  #lose(claim: HeldClaim): void {
    if (this.#held.get(claim.resource) === claim) this.#held.delete(claim.resource);
    claim.end();
  }

  #toOwned(resource: string, { entry }: KnownClaim): Owned | undefined {
    const { hub, epoch, about } = entry;
    return hub !== null && this.#aliveHubs.has(hub) ? { resource, hub, epoch, about } : undefined;
  }

  #assertMember(hub: string): void {
    const { membership } = this.#options;
    if (this.#isClosed) throw new BridgeError('closed', 'This hub is leaving its cluster.');
    if (!membership.isHeld() || membership.self.id !== hub)
      throw new BridgeError('cluster_unavailable', 'This hub has lost its place in the cluster, and takes nothing until NATS answers.');
  }

  #tell(resource: string): void {
    for (const listener of [...this.#listeners]) listener(resource);
  }
}
