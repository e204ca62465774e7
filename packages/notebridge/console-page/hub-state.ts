import type { Approval, Call, HubStatus, Server } from './owner-api.js';
import { readEvents } from './read-events.js';
import { ask, HubFault, send } from './session.js';

/** Calls that this page remembers; the hub keeps the last 1,000. */
const mostCalls = 100_000;
const approvalsEveryMs = 2000;
const firstPauseMs = 500;
const longestPauseMs = 10_000;

/** What the page knows of the hub. Told by the hub as it changes, and asked for anew whenever the connection was lost. */
export class HubState {
  status: HubStatus | undefined;
  servers: readonly Server[] = [];
  approvals: readonly Approval[] = [];
  /** `lost`: what is shown is what was known last. */
  connection: 'opening' | 'live' | 'lost' = 'opening';
  /** Why this tab may not go on. */
  signedOut: string | undefined;
  readonly #calls = new Map<string, Call>();
  readonly #listeners = new Set<() => void>();
  #newestFirst: readonly Call[] | undefined;
  #isTelling = false;

  /** The newest first. Another array when something has changed. */
  get calls(): readonly Call[] {
    this.#newestFirst ??= [...this.#calls.values()].sort((one, other) => Number(other.id) - Number(one.id));
    return this.#newestFirst;
  }

  /** Calls after changes, at most once for each picture. Returns what ends it. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Follows the hub, until this tab is signed out. Never rejects. */
  async follow(): Promise<void> {
    void this.#followApprovals();
    for (let pauseMs = firstPauseMs; this.signedOut === undefined; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      try {
        const events = await send('/api/v1/hub/events', { headers: { accept: 'text/event-stream' } });
        await this.#load();
        this.#set({ connection: 'live' });
        pauseMs = firstPauseMs;
        for await (const { event, data } of readEvents(events)) this.#take(event, data);
      } catch (error) {
        if (this.#isOver(error)) return;
      }
      this.#set({ connection: 'lost' });
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  /** Asks for all that stands on the first view. */
  async refresh(): Promise<void> {
    const [status, { servers }] = await Promise.all([ask<HubStatus>(''), ask<{ servers: Server[] }>('/servers')]);
    this.#set({ status, servers });
  }

  /** True, and said, if the hub no longer knows this tab. */
  #isOver(error: unknown): boolean {
    if (!(error instanceof HubFault) || !error.isSignedOut) return false;
    this.#set({ signedOut: 'This tab was signed out: the hub was started anew, or twelve hours are over. Run `notebridge console`.' });
    return true;
  }

  async #load(): Promise<void> {
    const [{ calls }] = await Promise.all([ask<{ calls: Call[] }>('/calls?limit=1000'), this.refresh()]);
    // Another hub counts its calls anew.
    this.#calls.clear();
    this.#addCalls([...calls].reverse());
  }

  async #followApprovals(): Promise<void> {
    while (this.signedOut === undefined) {
      if (this.connection === 'live' && document.visibilityState === 'visible') {
        const { approvals } = await ask<{ approvals: Approval[] }>('/approvals').catch(() => this);
        if (JSON.stringify(approvals) !== JSON.stringify(this.approvals)) this.#set({ approvals });
      }
      await new Promise((resolve) => setTimeout(resolve, approvalsEveryMs));
    }
  }

  #take(event: string, data: string): void {
    if (event === 'servers') return void this.refresh().catch(() => {});
    if (event !== 'calls') return;
    const { calls, totals } = JSON.parse(data) as { calls: Call[]; totals: HubStatus['calls'] };
    if (this.status !== undefined) this.status = { ...this.status, calls: totals };
    this.#addCalls(calls);
  }

  #addCalls(calls: readonly Call[]): void {
    for (const call of calls) this.#calls.set(call.id, call);
    for (const id of this.#calls.keys()) {
      if (this.#calls.size <= mostCalls) break;
      this.#calls.delete(id);
    }
    this.#newestFirst = undefined;
    this.#tell();
  }

  #set(changes: Partial<Pick<HubState, 'status' | 'servers' | 'approvals' | 'connection' | 'signedOut'>>): void {
    Object.assign(this, changes);
    this.#tell();
  }

  #tell(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    requestAnimationFrame(() => {
      this.#isTelling = false;
      for (const listener of this.#listeners) listener();
    });
  }
}
