import type { Claim, ClaimRecord, ClusterParts, HubCalls, ServedCall } from '@notebridge/cluster/cluster-parts';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { JsonObject } from '@notebridge/protocol/json';
import { Listeners } from '@notebridge/protocol/util/listeners';
import { quote } from '@notebridge/protocol/util/quote';
import type { Runtime } from '@notebridge/protocol/util/runtime';
import { Slots } from '@notebridge/protocol/util/slots';
import type { FoundSlot, SlotFinder, SlotQuery } from '../../notebooks/pages/slot-finder.js';
import type { KeptSlot } from '../../notebooks/pages/slot-store.js';
import type { PageProfile } from '../../notebooks/profiles/profile.js';
import { HeldPage, type PageOfHub } from './held-page.js';
import { PageClaimer } from './page-claimer.js';
import { PageIndex } from './page-index.js';
import {
  newPageId,
  type PageRecord,
  pageResources,
  pagesOfHub,
  parsePageIds,
  parsePageRecord,
  printPageRecord,
  yieldMethod,
} from './page-records.js';
import { PageTidy } from './page-tidy.js';
import { PageToolLists } from './page-tool-lists.js';
import { PageYields } from './page-yields.js';

export interface ClusterPagesOptions extends Pick<ClusterParts, 'claims' | 'calls' | 'membership' | 'store' | 'runtime' | 'logger'> {
  /** The kinds of page that this hub can have. */
  profiles: readonly PageProfile[];
}

/** What a page's slot is made of again. `save`: for the slot. */
export interface KeptPage extends Omit<KeptSlot, 'profile'> {
  profile: PageProfile;
  save: () => Promise<boolean>;
}

/** How long a page that has dialled may wait for its slot: longer than the lease of a hub. Milliseconds. */
const bringMs = 15_000;
const retryMs = 250;
/** How long news of a token may take: while the cluster is there, and while it is away. Milliseconds. */
const newsMs = 1000;
const newsWhileAwayMs = 4000;
/** Slots that are taken or let go at the same time. */
const atOnce = 64;

/**
 * The pages of the cluster. A page's slot is a claim; its record holds what the next hub needs. A page that dials has its slot brought here:
 * from a hub that has ended at once, and else from one that lets go of it.
 */
export class ClusterPages implements SlotFinder {
  /** Called when this hub has another page, or one less. */
  readonly changed = new Listeners<void>();
  readonly #options: ClusterPagesOptions;
  readonly #index: PageIndex;
  readonly #yields: PageYields;
  readonly #toolLists: PageToolLists;
  readonly #tidy: PageTidy;
  readonly #claimer: PageClaimer;
  readonly #held = new Map<string, HeldPage>();
  readonly #bringing = new Map<string, Promise<HeldPage | Exclude<FoundSlot, object>>>();
  readonly #slots = new Slots(atOnce);
  readonly #stops: (() => void)[] = [];
  #openPage: ((kept: KeptPage) => PageOfHub) | undefined;
  #isDraining = false;
  #isClosed = false;
  #closing: Promise<void> | undefined;

  constructor(options: ClusterPagesOptions) {
    this.#options = options;
    this.#index = new PageIndex(options);
    this.#yields = new PageYields(options);
    this.#toolLists = new PageToolLists(options);
    this.#tidy = new PageTidy(options);
    this.#claimer = new PageClaimer({ ...options, slots: this.#slots, held: this.#held, drop: (held) => this.#drop(held) });
  }

  /** True once pages may dial this hub. */
  get canOpen(): boolean {
    return this.#openPage !== undefined;
  }

  /** From now on pages of others may come here. `openPage`: makes the notebook of one. */
  start(openPage: (kept: KeptPage) => PageOfHub): void {
    const { claims, calls, membership } = this.#options;
    this.#openPage = openPage;
    const note = (record: ClaimRecord): void => this.#note(idOf(record.resource), record);
    this.#stops.push(
      claims.subscribe((resource) => {
        if (resource.startsWith(pageResources)) this.#note(idOf(resource), claims.recordOf(resource));
      }),
      membership.subscribe(() => this.#claimer.catchUp()),
      calls.serve(pagesOfHub, (call) => this.#answer(call)),
    );
    for (const record of claims.records(pageResources)) note(record);
    this.#tidy.start();
  }

  get calls(): HubCalls {
    return this.#options.calls;
  }

  get runtime(): Runtime {
    return this.#options.runtime;
  }

  /** All that are here. */
  get held(): readonly HeldPage[] {
    return [...this.#held.values()];
  }

  heldPage(id: string): HeldPage | undefined {
    return this.#held.get(id);
  }

  /** Those that had a page, whose hubs have ended, and that no page has come back for, as far as was told. */
  get orphans(): readonly { id: string; record: PageRecord }[] {
    const { claims } = this.#options;
    return claims.records(pageResources).flatMap(({ resource, about }) => {
      if (this.#held.has(idOf(resource)) || claims.ownerOf(resource) !== undefined) return [];
      const record = parsePageRecord(about);
      return record?.hadPage === true ? [{ id: idOf(resource), record }] : [];
    });
  }

  /** Says to all that this hub has a new slot, as soon as it can. */
  add(page: PageOfHub): HeldPage {
    const held = this.#hold(newPageId(this.#options.runtime), page, { hadPage: false });
    this.#claimer.catchUp();
    return held;
  }

  /** The page of this URL; a new slot if there is none here. Throws `bad_usage` for a kind of page that there is not. */
  open({ profile: name, url, allowOrigins = [] }: { profile: string; url: string; allowOrigins?: readonly string[] }): HeldPage {
    const known = this.held.find(({ page }) => page.url === url && page.slot.profile.name === name);
    if (known !== undefined) return known;
    const profile = this.#options.profiles.find((candidate) => candidate.name === name);
    if (profile === undefined) throw new BridgeError('bad_usage', `There is no kind of page ${quote(name)}.`);
    const kept = { profile, url, allowOrigins, tokens: { passes: [], lasting: [] } };
    const held = this.#make(newPageId(this.#options.runtime), kept, { hadPage: false });
    this.#claimer.catchUp();
    return held;
  }

  allowsOrigin(origin: string): boolean {
    return this.#index.allowsOrigin(origin);
  }

  knows(digest: Buffer): boolean {
    return this.#index.idOf(digest) !== undefined;
  }

  async find({ digest, origin }: SlotQuery): Promise<FoundSlot> {
    const { membership } = this.#options;
    const id = await this.#index.idSoon(digest, membership.isHeld() ? newsMs : newsWhileAwayMs);
    if (id === undefined) return membership.isHeld() ? 'unknown' : 'away';
    if (!this.#index.allowsOrigin(origin, id)) return 'wrong_origin';
    const found = this.#held.get(id) ?? (await this.#bring(id));
    if (typeof found === 'string') return found;
    // On its way to another hub: the page finds it there.
    if (found.isGone) return 'later';
    const { slot } = found.page;
    return slot.tokens.admitsDigest(digest) ? { slot } : 'unknown';
  }

  /** The hub that has a page; undefined: it is here. One whose hub has ended comes here. Rejects with `bad_notebook`, `cluster_unavailable`. */
  async locate(id: string): Promise<string | undefined> {
    const { claims, membership } = this.#options;
    const isElsewhere = (): string | undefined => {
      const owner = claims.ownerOf(pageResources + id);
      return owner !== undefined && owner.hub !== membership.self.id ? owner.hub : undefined;
    };
    if (this.#held.has(id)) return undefined;
    const hub = isElsewhere();
    if (hub !== undefined) return hub;
    const found = await this.#bring(id);
    if (typeof found === 'object') return undefined;
    if (found === 'unknown') throw new BridgeError('bad_notebook', `There is no page ${quote(id)} any more. Nothing was called.`);
    const taken = isElsewhere();
    if (taken !== undefined) return taken;
    throw new BridgeError('cluster_unavailable', `Which hub has the page ${quote(id)} cannot be known just now. Nothing was called.`);
  }

  /** An agent's session has ended. */
  endSession(sessionId: string): void {
    for (const { page } of this.#held.values()) page.endSession(sessionId);
  }

  /** Takes no more, and lets others have each page as soon as no call is at it. Never rejects. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await Promise.all(
      this.held.map(async (held) => {
        await held.idle();
        await this.#slots.run(() => held.leave());
        this.#drop(held);
      }),
    );
  }

  /** Lets others have all of it, and has pages dial them. Closing twice is harmless. */
  close(): Promise<void> {
    this.#isClosed = true;
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#tidy.close();
    this.#claimer.close();
    for (const stop of this.#stops.splice(0)) stop();
    this.#yields.close();
    await Promise.all(this.held.map((held) => this.#slots.run(() => held.leave())));
    this.#held.clear();
  }

  #note(id: string, record: ClaimRecord | undefined): void {
    // Of what is here, this hub knows more than what was told.
    if (this.#held.has(id)) return this.#checkOwner(id, record);
    this.#index.note(id, record && parsePageRecord(record.about));
  }

  /** While this hub did not hold its lease, another may have taken a page. */
  #checkOwner(id: string, record: ClaimRecord | undefined): void {
    const { membership } = this.#options;
    const held = this.#held.get(id);
    if (record?.hub !== undefined && record.hub !== membership.self.id && held?.isClaimed === false) this.#claimer.catchUp();
  }

  #bring(id: string): Promise<HeldPage | Exclude<FoundSlot, object>> {
    const known = this.#bringing.get(id);
    if (known !== undefined) return known;
    const bringing = this.#tryToBring(id).finally(() => this.#bringing.delete(id));
    this.#bringing.set(id, bringing);
    return bringing;
  }

  /** Never rejects. */
  async #tryToBring(id: string): Promise<HeldPage | Exclude<FoundSlot, object>> {
    const { claims, membership, runtime, logger } = this.#options;
    const resource = pageResources + id;
    const deadline = runtime.steady() + bringMs;
    for (let isFirst = true; isFirst || runtime.steady() < deadline; isFirst = false) {
      if (!isFirst) await new Promise<void>((resolve) => runtime.after(retryMs, resolve));
      const held = this.#held.get(id);
      if (held !== undefined) return held;
      if (this.#isClosed || this.#isDraining || membership.self.isDraining) return 'later';
      if (claims.recordOf(resource) === undefined) return 'unknown';
      const owner = claims.ownerOf(resource);
      if (owner !== undefined && owner.hub !== membership.self.id) {
        const answer = await this.#yields.ask(owner.hub, id, deadline - runtime.steady());
        if (answer === 'busy') return 'busy';
        if (answer === 'failed' && claims.ownerOf(resource)?.hub === owner.hub) continue;
      }
      try {
        const taken = await this.#slots.run(() => this.#take(id));
        if (taken !== undefined) return taken;
      } catch (error) {
        logger.debug('A page could not be brought here yet.', { error: String(error) });
      }
    }
    return 'later';
  }

  /** Undefined: another hub has it after all. */
  async #take(id: string): Promise<HeldPage | 'unknown' | undefined> {
    const { claims, logger } = this.#options;
    let about = claims.recordOf(pageResources + id)?.about ?? {};
    const claim = await claims.take(pageResources + id, (before) => {
      about = before;
      return before;
    });
    if (claim === undefined) return undefined;
    const record = parsePageRecord(about);
    const profile = this.#options.profiles.find(({ name }) => name === record?.profile);
    if (record === undefined || profile === undefined || this.#isClosed) {
      await claim.release();
      return 'unknown';
    }
    const { toolsKey, ...slot } = record;
    const tools = toolsKey === undefined ? undefined : await this.#toolLists.read(toolsKey);
    const held = this.#make(id, { ...slot, profile, tools }, { hadPage: record.hadPage, claim });
    held.noteWritten(printPageRecord(record));
    logger.info('A page of another hub comes here.', { page: id, epoch: claim.epoch });
    return held;
  }

  #make(id: string, kept: Omit<KeptPage, 'key' | 'save'>, how: { hadPage: boolean; claim?: Claim }): HeldPage {
    if (this.#openPage === undefined) throw new BridgeError('internal', 'Pages were not started.');
    const page = this.#openPage({ ...kept, key: id, save: () => this.#held.get(id)?.save() ?? Promise.resolve(false) });
    return this.#hold(id, page, how);
  }

  #hold(id: string, page: PageOfHub, how: { hadPage: boolean; claim?: Claim }): HeldPage {
    const { runtime, logger } = this.#options;
    const onRecord = (record: PageRecord): void => this.#index.note(id, record);
    const parts = { toolLists: this.#toolLists, runtime, logger, onRecord, onTrouble: () => this.#claimer.retrySoon() };
    const held = new HeldPage({ id, page, ...how, ...parts });
    this.#held.set(id, held);
    this.changed.emit();
    return held;
  }

  async #answer({ context: { method, message } }: ServedCall): Promise<JsonObject> {
    if (method !== yieldMethod) throw new BridgeError('unknown_method', `Hubs of this version do not know "${method}".`);
    const yielded: string[] = [];
    const letGo = async (id: string): Promise<void> => {
      const held = this.#held.get(id);
      if (held === undefined || (await held.yield())) yielded.push(id);
      if (held?.isGone === true) this.#drop(held);
    };
    await Promise.all(parsePageIds(message.pages).map(letGo));
    return { yielded };
  }

  #drop(held: HeldPage): void {
    if (this.#held.get(held.id) !== held) return;
    this.#held.delete(held.id);
    const { claims } = this.#options;
    this.#note(held.id, claims.recordOf(pageResources + held.id));
    this.changed.emit();
  }
}

function idOf(resource: string): string {
  return resource.slice(pageResources.length);
}
