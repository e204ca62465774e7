import { type Claim, type ClusterParts, NotStarted } from '@notebridge/cluster/cluster-parts';
import type { CallContext } from '@notebridge/protocol/core/call-context';
import { codeOf } from '@notebridge/protocol/core/errors';
import type { Provider } from '@notebridge/protocol/core/provider';
import type { JsonObject } from '@notebridge/protocol/json';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { Slot } from '../../notebooks/pages/slot.js';
import type { NotebookEntry } from '../../notebooks/selection/notebook-directory.js';
import { isNotConnected, type PageRecord, printPageRecord } from './page-records.js';
import type { PageToolLists } from './page-tool-lists.js';
import type { NotebookHere } from './remote-notebook.js';

/** The notebook of a page, as whoever opens it makes it. */
export interface PageOfHub {
  slot: Slot;
  /** What is opened for it. */
  url: string;
  /** With all of its tools; for several agents. */
  provider: Provider;
  describe(): Omit<NotebookEntry, 'id'>;
  endSession(sessionId: string): void;
  /** Calls that wait for its page end, without one. The slot is closed by then. Closing twice is harmless. */
  close(): Promise<void>;
}

export interface HeldPageParts extends Pick<ClusterParts, 'runtime' | 'logger'> {
  id: string;
  page: PageOfHub;
  /** Left out: it is to be claimed. */
  claim?: Claim | undefined;
  /** True if pages of it came to other hubs before. */
  hadPage: boolean;
  toolLists: PageToolLists;
  /** Calls when what is known of it has changed, before it is written. */
  onRecord: (record: PageRecord) => void;
  /** Calls when something could not be written, or is held no more: it is tried again. */
  onTrouble: () => void;
}

/** A page's slot that this hub has, and what is written of it for the next one. */
export class HeldPage implements NotebookHere {
  readonly id: string;
  readonly page: PageOfHub;
  readonly #parts: HeldPageParts;
  #claim: Claim | undefined;
  /** Of the last claim. */
  #epoch: number | undefined;
  #hadPage: boolean;
  #isGone = false;
  /** Calls that are here. */
  #running = 0;
  #onIdle: (() => void)[] = [];
  #isWritten = false;
  #lastText: string | undefined;
  #turn: Promise<boolean> = Promise.resolve(true);
  #next: Promise<boolean> | undefined;
  readonly #stop: () => void;

  constructor(parts: HeldPageParts) {
    this.#parts = parts;
    this.id = parts.id;
    this.page = parts.page;
    this.#hadPage = parts.hadPage;
    if (parts.claim !== undefined) this.attach(parts.claim);
    this.#stop = parts.page.slot.connected.add(() => {
      this.#hadPage = true;
    });
    this.#known();
  }

  get provider(): Provider {
    return this.page.provider;
  }

  /** True once another hub may have it. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** True while a page's socket is open here. */
  get isConnected(): boolean {
    return this.page.slot.connectionLive.isSet();
  }

  /** True once a page has come to it, here or at another hub. */
  get hadPage(): boolean {
    return this.#hadPage;
  }

  get isClaimed(): boolean {
    return this.#claim?.isHeld() === true;
  }

  /** True if something is not written that others should know. */
  get isBehind(): boolean {
    return !this.#isGone && (!this.isClaimed || !this.#isWritten);
  }

  get epoch(): number | undefined {
    return this.#epoch;
  }

  /** From now on what changes is written under this claim. */
  attach(claim: Claim): void {
    this.#claim = claim;
    this.#epoch = claim.epoch;
    claim.onLost(() => {
      if (this.#claim !== claim) return;
      this.#claim = undefined;
      if (!this.#isGone) this.#parts.onTrouble();
    });
  }

  /** What the next hub is to know. Rejects with `StoreUnavailable`. */
  async record(): Promise<JsonObject> {
    const known = this.#known();
    const tools = this.page.slot.rememberedTools;
    return printPageRecord({ ...known, toolsKey: tools && (await this.#parts.toolLists.keep(tools)) });
  }

  /** Writes what has changed. Resolves to whether all that was so at the call can be read by other hubs; never rejects. */
  save(): Promise<boolean> {
    this.#isWritten = false;
    this.#next ??= this.#turn.then(() => {
      this.#next = undefined;
      this.#turn = this.#write();
      return this.#turn;
    });
    return this.#next;
  }

  /** Notes that this stands in the store. What this hub has added, as a token that it has shown to nobody, is written with the next change. */
  noteWritten(record: JsonObject): void {
    this.#lastText = toText(record);
    this.#isWritten = true;
  }

  /** Lets another hub have it, unless a living page is in it. */
  async yield(): Promise<boolean> {
    if (this.#isGone) return true;
    // A call that waits for the page goes where that goes.
    if (!(await this.page.slot.yield())) return false;
    await this.leave();
    return true;
  }

  /** Resolves when no call is here. */
  async idle(): Promise<void> {
    while (this.#running > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** Lets others have it: at once, with what they need to know. Never rejects. */
  async leave(): Promise<void> {
    if (this.#isGone) return;
    if (!this.#isWritten && this.isClaimed) await this.save();
    this.#isGone = true;
    this.#stop();
    // Its page may be on its way: the record stays, also if none has ever come.
    await this.#claim?.release();
    await this.page.slot.close();
    await this.page.close().catch((error: unknown) => this.#parts.logger.warn('A page was not closed.', { error: messageOf(error) }));
  }

  async request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    if (this.#isGone) throw new NotStarted('not_owner');
    this.#running++;
    try {
      const answered = await this.page.provider.request(method, params, context);
      // It waited for the page, which went to another hub.
      if (this.#isGone && isNotConnected(answered)) throw new NotStarted('not_owner');
      return answered;
    } catch (error) {
      if (this.#isGone && codeOf(error) === 'not_connected') throw new NotStarted('not_owner');
      throw error;
    } finally {
      this.#running--;
      if (this.#running === 0) for (const call of this.#onIdle.splice(0)) call();
    }
  }

  endSession(sessionId: string): void {
    this.page.endSession(sessionId);
  }

  /** A page may come by each of its tokens from now on. */
  #known(): PageRecord {
    const { runtime, onRecord } = this.#parts;
    const { slot, url } = this.page;
    const { title } = this.page.describe();
    const { profile, allowedOrigins: allowOrigins } = slot;
    const known = {
      profile: profile.name,
      url,
      allowOrigins,
      tokens: slot.tokens.kept,
      title,
      hadPage: this.#hadPage,
      at: runtime.now(),
      toolsKey: undefined,
    };
    onRecord(known);
    return known;
  }

  async #write(): Promise<boolean> {
    const claim = this.#claim;
    try {
      const record = await this.record();
      const text = toText(record);
      if (claim?.isHeld() !== true) return this.#fail();
      if (text !== this.#lastText) await claim.describe(record);
      this.#lastText = text;
      // What was asked for meanwhile is written next.
      this.#isWritten = this.#next === undefined;
      return true;
    } catch {
      return this.#fail();
    }
  }

  #fail(): false {
    if (!this.#isGone) this.#parts.onTrouble();
    return false;
  }
}

/** Without the time: it says nothing new. */
function toText({ at: _, ...record }: JsonObject): string {
  return JSON.stringify(record);
}
