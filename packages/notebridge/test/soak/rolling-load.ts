import { setTimeout as delay } from 'node:timers/promises';
import type { ServedHub } from '../support/served-hub.js';

/** What came of a call. `refused`: 503, or no connection. `lost`: neither, whether it was begun or not. */
export type Outcome = 'ok' | 'refused' | 'lost';

export interface MadeCall {
  n: number;
  hub: string;
  /** Milliseconds since the beginning. */
  at: number;
  outcome: Outcome;
  told: string;
}

/** From when on a hub was in this state. */
export interface ReadyChange {
  hub: string;
  at: number;
  state: string;
}

/** A hub of the site, which may be between two lives. */
export interface LoadedHub {
  readonly name: string;
  readonly served: ServedHub;
  /** Of the owner, or of a grant. */
  tokens(): readonly string[];
}

const callers = 6;
/** Between two calls of a caller, and two looks at the readiness. Milliseconds. */
const paceMs = 30;

/** Callers behind a load balancer, which sends each call to one of the hubs that were ready when it looked last. */
export class RollingLoad {
  readonly calls: MadeCall[] = [];
  readonly changes: ReadyChange[] = [];
  readonly #hubs: readonly LoadedHub[];
  readonly #beganAt = performance.now();
  readonly #states = new Map<string, string>();
  readonly #work: Promise<unknown>;
  #isOver = false;
  #numbers = 0;

  constructor(hubs: readonly LoadedHub[]) {
    this.#hubs = hubs;
    this.#work = Promise.all([...hubs.map((hub) => this.#watch(hub)), ...Array.from({ length: callers }, (_, index) => this.#call(index))]);
  }

  get seconds(): number {
    return (performance.now() - this.#beganAt) / 1000;
  }

  state(hub: string): string {
    return this.#states.get(hub) ?? 'unknown';
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#work;
  }

  #now(): number {
    return Math.round(performance.now() - this.#beganAt);
  }

  async #watch(hub: LoadedHub): Promise<void> {
    while (!this.#isOver) {
      const state = await fetch(new URL('/readyz', hub.served.url), { signal: AbortSignal.timeout(10_000) }).then(
        async (response) => `${response.status} ${((await response.json()) as { status: string }).status}`,
        () => 'away',
      );
      if (state !== this.#states.get(hub.name)) this.changes.push({ hub: hub.name, at: this.#now(), state });
      this.#states.set(hub.name, state);
      await delay(paceMs);
    }
  }

  async #call(index: number): Promise<void> {
    while (!this.#isOver) {
      const ready = this.#hubs.filter(({ name }) => this.state(name).startsWith('200'));
      const n = ++this.#numbers;
      const hub = ready[n % Math.max(1, ready.length)];
      if (hub !== undefined) {
        const at = this.#now();
        const tokens = hub.tokens();
        const made = await makeCall(hub.served, { n, token: tokens[index % tokens.length] ?? '', ms: n % 5 === 0 ? 300 : 0 });
        this.calls.push({ n, hub: hub.name, at, ...made });
      }
      await delay(paceMs);
    }
  }
}

async function makeCall(
  hub: ServedHub,
  { n, token, ms }: { n: number; token: string; ms: number },
): Promise<Pick<MadeCall, 'outcome' | 'told'>> {
  try {
    const response = await hub.request('/api/v1/mcp/proxy/ledger/tools/mark', { token, body: { arguments: { n, ms } } });
    const text = await response.text();
    if (response.status === 503 && response.headers.get('retry-after') !== null) return { outcome: 'refused', told: text };
    return { outcome: response.status === 200 && text.includes(`marked ${n}`) ? 'ok' : 'lost', told: `${response.status} ${text}` };
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { code?: string };
    return { outcome: code === 'ECONNREFUSED' ? 'refused' : 'lost', told: code ?? String(error) };
  }
}
