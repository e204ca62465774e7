import { parseJson } from '@notebridge/protocol/exact-json';
import type { OwnerBody } from '../src/doors/owner/owner-schemas.js';
import { KnownCalls } from './known-calls.js';
import { readEvents } from './read-events.js';
import { ask, forget, HubFault, send } from './session.js';
import type { Approval, HubReport, Server } from './wire.js';

/** The hub says something at least every 15 s, if only that it is there. Milliseconds. */
const silenceMs = 40_000;
const firstPauseMs = 500;
const longestPauseMs = 10_000;
const lookEveryMs = 2000;
const settleMs = 1500;

interface Told {
  report: HubReport | undefined;
  servers: readonly Server[];
  approvals: readonly Approval[];
  /** How often it was told that such a list has changed, which the view that shows it asks for. */
  news: { readonly agents: number; readonly notebooks: number; readonly config: number };
  /** `lost`: what is shown is what was known last. */
  connection: 'opening' | 'live' | 'lost';
  /** Why this tab may not go on. */
  signedOut: string | undefined;
  /** What the hub said when it would tell no more; undefined: it does not answer at all. */
  refusal: string | undefined;
}

/** What the page knows of the hub: told by it as it changes, and asked for anew whenever the connection was lost. */
export class LiveHub {
  told: Told = {
    report: undefined,
    servers: [],
    approvals: [],
    news: { agents: 0, notebooks: 0, config: 0 },
    connection: 'opening',
    signedOut: undefined,
    refusal: undefined,
  };
  readonly calls = new KnownCalls();
  readonly #listeners = new Set<() => void>();
  #isTelling = false;
  #isSettling = false;
  #refreshing: Promise<void> | undefined;

  /** False: who only watches, and sees nothing that was sent, and changes nothing. */
  get isOwner(): boolean {
    return this.told.report?.role !== 'watcher';
  }

  /** Calls after changes, at most once for each frame. Returns what ends it. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Follows the hub until this tab is signed out. Never rejects. */
  async follow(): Promise<void> {
    void this.#look();
    let pauseMs = firstPauseMs;
    while (this.told.signedOut === undefined) {
      let refusal: string | undefined;
      try {
        await this.#hear(() => {
          pauseMs = firstPauseMs;
        });
      } catch (error) {
        this.#noteFault(error);
        if (error instanceof HubFault) refusal = error.message;
      }
      this.#set({ connection: 'lost', refusal });
      await delay(pauseMs);
      pauseMs = Math.min(2 * pauseMs, longestPauseMs);
    }
  }

  /** Asks for all servers, with their tools. Two that ask at once share the answer. */
  refresh(): Promise<void> {
    this.#refreshing ??= ask<'HubReport'>('/servers')
      .then(({ servers }) => this.#set({ servers }))
      .finally(() => {
        this.#refreshing = undefined;
      });
    return this.#refreshing;
  }

  /** After a decision, so that it is seen at once. */
  async refreshApprovals(): Promise<void> {
    if (!this.isOwner) return;
    const { approvals } = await ask<'Approvals'>('/approvals');
    this.#set({ approvals });
  }

  async #hear(onOpen: () => void): Promise<void> {
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const wait = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => controller.abort(), silenceMs);
    };
    wait();
    try {
      const events = await send('/api/v1/hub/events', { headers: { accept: 'text/event-stream' }, signal: controller.signal });
      await this.#load();
      onOpen();
      this.#set({ connection: 'live' });
      for await (const { event, data } of readEvents(events, wait)) this.#take(event, data);
    } finally {
      clearTimeout(timer);
      controller.abort();
    }
  }

  async #load(): Promise<void> {
    const [report, { calls }] = await Promise.all([ask<'Hub'>(''), ask<'Calls'>('/calls?limit=1000'), this.refresh()]);
    const before = this.told.report;
    if (before !== undefined && (before.pid !== report.pid || before.started_at !== report.started_at)) this.calls.clear();
    this.calls.add([...calls].reverse());
    this.#set({ report });
    await this.refreshApprovals();
  }

  /** What no event tells: approvals, grants, and how many calls each server has under way. */
  async #look(): Promise<void> {
    while (this.told.signedOut === undefined) {
      await delay(lookEveryMs);
      if (this.told.connection !== 'live' || document.visibilityState === 'hidden') continue;
      try {
        const report = await this.#lookAtHub();
        if (report.approvals > 0 || this.told.approvals.length > 0) await this.refreshApprovals();
      } catch (error) {
        this.#noteFault(error);
      }
    }
  }

  async #lookAtHub(): Promise<HubReport> {
    const report = await ask<'Hub'>('');
    const states = new Map(report.servers.map((state) => [state.name, state]));
    this.#set({ report, servers: this.told.servers.map((server) => ({ ...server, ...states.get(server.name) })) });
    return report;
  }

  #take(event: string, data: string): void {
    if (event === 'servers') return void this.refresh().catch((error: unknown) => this.#noteFault(error));
    if (event === 'cluster') return void this.#lookAtHub().catch((error: unknown) => this.#noteFault(error));
    const { news } = this.told;
    if (event === 'agents' || event === 'notebooks' || event === 'config')
      return this.#set({ news: { ...news, [event]: news[event] + 1 } });
    if (event !== 'calls') return;
    const { calls, totals } = parseJson(data) as OwnerBody<'Calls'>;
    this.calls.add(calls);
    if (this.told.report !== undefined) this.told.report = { ...this.told.report, calls: totals };
    if (this.calls.running.length > totals.running) void this.#settle();
    this.#tell();
  }

  /** Of many calls only the newest are told of: those that seem to run are asked for. */
  async #settle(): Promise<void> {
    if (this.#isSettling) return;
    this.#isSettling = true;
    await delay(settleMs);
    try {
      const before = this.calls.running;
      const [{ calls: last }, { calls: run }] = await Promise.all([
        ask<'Calls'>('/calls?limit=1000'),
        ask<'Calls'>('/calls?outcome=running&limit=1000'),
      ]);
      const running = new Set(run.map(({ id }) => id));
      const known = new Set(last.map(({ id }) => id));
      // Forgotten by the hub: nobody knows any more how they ended.
      const gone = before.filter(({ id }) => !running.has(id) && !known.has(id)).map((call) => ({ ...call, state: 'ended' as const }));
      this.calls.add([...gone, ...last.filter(({ state }) => state === 'ended').reverse()]);
      this.#tell();
    } catch (error) {
      this.#noteFault(error);
    } finally {
      this.#isSettling = false;
    }
  }

  #noteFault(error: unknown): void {
    if (!(error instanceof HubFault) || error.status !== 401) return;
    forget();
    const why = this.isOwner
      ? 'you signed out in another tab that shares it, the hub was started anew, or its twelve hours are over'
      : 'its grant has ended';
    this.#set({ signedOut: `This tab is signed out: ${why}.` });
  }

  #set(changes: Partial<Told>): void {
    this.told = { ...this.told, ...changes };
    this.#tell();
  }

  #tell(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    const tell = (): void => {
      this.#isTelling = false;
      for (const listener of this.#listeners) listener();
    };
    // A hidden tab draws no frames.
    if (document.visibilityState === 'hidden') setTimeout(tell, 250);
    else requestAnimationFrame(tell);
  }
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
