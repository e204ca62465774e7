import { Chance } from './chance.js';
import { EventHeap } from './event-heap.js';
import { calm, type Weather } from './weather.js';

/**
 * A small world in one process: virtual time, chance from a seed, and nothing else that could differ between two runs.
 *
 * Why it is ours: the schedulers at hand order promises (fast-check's `scheduler`) or replace the timers of one process (the fake timers of
 * vitest). Neither has several clocks that differ, processes that are stopped, killed and started again, nor a network and a store between
 * them. What they do have we take: fast-check makes the fault schedules and shrinks them (`fault-schedule.ts`).
 *
 * An event runs, then every microtask that came of it, then the next event: so the same seed runs the same way again. That the microtasks
 * are done is known by `setImmediate`, which comes after all of them; it is the one thing of the real event loop that is used.
 */
export class World {
  readonly chance: Chance;
  /** What the network and the store do to what passes through. */
  weather: Weather = calm;
  /** Broken promises and invariants, in words. */
  readonly problems: string[] = [];
  /** What happened how often, for reports. */
  readonly counts = new Map<string, number>();
  readonly #events = new EventHeap();
  readonly #lines: string[] | undefined;
  readonly #watchers = new Set<() => void>();
  #now = 0;
  #planned = 0;
  #hash = 0x811c9dc5;
  #isFree = false;

  /** `keepsTrace`: the lines of the trace can be read afterwards. Its hash always can. */
  constructor(seed: number, { keepsTrace = false }: { keepsTrace?: boolean } = {}) {
    this.chance = new Chance(seed);
    this.#lines = keepsTrace ? [] : undefined;
  }

  /** Milliseconds since the world began, as nobody in it knows them. */
  get now(): number {
    return this.#now;
  }

  /** Two runs that took the same way have the same. */
  get traceHash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, '0');
  }

  get trace(): readonly string[] {
    return this.#lines ?? [];
  }

  /** Calls after so many milliseconds of true time. Returns the function that calls it off. */
  after(ms: number, label: string, call: () => void): () => void {
    const event = { at: this.#now + Math.max(0, ms), order: this.#planned++, label, call: call as (() => void) | undefined };
    this.#events.push(event);
    if (this.#isFree) void this.#pump();
    return () => {
      event.call = undefined;
    };
  }

  /** Looks after each event, for invariants. */
  watch(look: () => void): void {
    this.#watchers.add(look);
  }

  note(line: string): void {
    const text = `${this.#now.toFixed(3)} ${line}`;
    this.#lines?.push(text);
    for (let index = 0; index < text.length; index += 1) this.#hash = Math.imul(this.#hash ^ text.charCodeAt(index), 0x01000193);
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  problem(text: string): void {
    this.note(`PROBLEM ${text}`);
    if (this.problems.length < 20) this.problems.push(`at ${(this.#now / 1000).toFixed(3)} s: ${text}`);
  }

  /** Lets so much time pass. Ends early at the first problem, since what comes after it is its consequence. */
  async run(ms: number): Promise<void> {
    const end = this.#now + ms;
    await microtasks();
    for (;;) {
      const event = this.#events.next;
      if (!event || event.at > end || this.problems.length > 0) break;
      await this.#step();
    }
    if (this.problems.length === 0) this.#now = end;
  }

  /** From now on time passes by itself, as fast as it can, while there are events: for tests that know nothing of it. */
  runFreely(): void {
    this.#isFree = true;
    void this.#pump();
  }

  #isPumping = false;

  async #pump(): Promise<void> {
    if (this.#isPumping) return;
    this.#isPumping = true;
    await microtasks();
    while (this.#events.next) await this.#step();
    this.#isPumping = false;
  }

  async #step(): Promise<void> {
    const event = this.#events.pop();
    if (!event?.call) return;
    this.#now = Math.max(this.#now, event.at);
    this.note(event.label);
    try {
      event.call();
    } catch (error) {
      this.problem(`"${event.label}" threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    }
    await microtasks();
    for (const look of this.#watchers) look();
  }
}

/** Resolves when no microtask is left. */
function microtasks(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
