import type { Runtime } from '../util/runtime.js';
import { type Grant, type LiveGrant, toLive } from './grant.js';
import type { GrantListener } from './grant-records.js';

/** The grants that this process knows, ready to be asked, and whether their time is over. */
export class GrantIndex implements GrantListener {
  /** When the clock is set back, no token lives longer for it. */
  readonly #deadlines: Deadlines;
  readonly #byHash = new Map<string, LiveGrant>();
  readonly #byId = new Map<string, LiveGrant>();

  constructor(runtime: Pick<Runtime, 'now' | 'steady'>) {
    this.#deadlines = new Deadlines(runtime);
  }

  replaceAll(grants: readonly Grant[]): void {
    const ids = new Set(grants.map(({ id }) => id));
    for (const id of [...this.#byId.keys()]) if (!ids.has(id)) this.drop(id);
    for (const grant of grants) this.put(grant);
  }

  put(grant: Grant): void {
    const before = this.#byId.get(grant.id);
    // Terms never change, and patterns cost the most.
    const isSame = before !== undefined && JSON.stringify(before.allow) === JSON.stringify(grant.allow) && before.door === grant.door;
    const live = isSame ? { ...grant, allowList: before.allowList } : toLive(grant);
    if (before !== undefined) this.#forget(before, deadlinesOf(grant));
    this.#byId.set(grant.id, live);
    this.#byHash.set(grant.hash, live);
    if (grant.previous !== undefined) this.#byHash.set(grant.previous.hash, live);
    // Each is looked at once, so that its time begins to run.
    for (const deadline of deadlinesOf(grant)) this.#deadlines.isOver(...deadline);
  }

  drop(id: string): void {
    const grant = this.#byId.get(id);
    if (grant === undefined) return;
    this.#byId.delete(id);
    this.#forget(grant, []);
  }

  /** In the order in which they came. */
  all(): Iterable<LiveGrant> {
    return this.#byId.values();
  }

  ofId(id: string): LiveGrant | undefined {
    return this.#byId.get(id);
  }

  /** The grant that has or had a token of this digest. */
  ofHash(hash: string): LiveGrant | undefined {
    return this.#byHash.get(hash);
  }

  isExpired({ id, expiresAt }: Grant): boolean {
    return this.#deadlines.isOver(id, expiresAt);
  }

  /** True if the token of this digest has been renewed for longer than it may still open. */
  isOutlived(grant: Grant, hash: string): boolean {
    return grant.hash !== hash && this.#deadlines.isOver(nameOfPrevious(grant.id), grant.previous?.expiresAt ?? 0);
  }

  #forget({ hash, previous, ...grant }: Grant, kept: readonly Deadline[]): void {
    this.#byHash.delete(hash);
    if (previous !== undefined) this.#byHash.delete(previous.hash);
    for (const [name, at] of deadlinesOf({ ...grant, previous }))
      if (!kept.some((other) => other[0] === name && other[1] === at)) this.#deadlines.forget(name, at);
  }
}

type Deadline = [name: string, at: number];

function deadlinesOf({ id, expiresAt, previous }: Pick<Grant, 'id' | 'expiresAt' | 'previous'>): Deadline[] {
  const own: Deadline = [id, expiresAt];
  return previous === undefined ? [own] : [own, [nameOfPrevious(id), previous.expiresAt]];
}

function nameOfPrevious(id: string): string {
  return `${id} previous`;
}

/** The two clocks of a process: one that people and other machines may set, and one that may stand still while the machine sleeps. */
export type Clocks = Pick<Runtime, 'now' | 'steady'>;

/**
 * Whether moments of the clock have come. The clock may be set back, which must not extend any deadline: a moment has also come when as
 * much time has passed as was left when it was first asked for here. What was asked for is remembered until `forget`.
 */
export class Deadlines {
  readonly #clocks: Clocks;
  readonly #ends = new Map<string, number>();

  constructor(clocks: Clocks) {
    this.#clocks = clocks;
  }

  /** `name` and `at` together are one deadline: another time for the same name is another one. */
  isOver(name: string, at: number): boolean {
    const leftMs = at - this.#clocks.now();
    if (leftMs <= 0) return true;
    const key = keyOf(name, at);
    const end = this.#ends.get(key);
    if (end !== undefined) return end <= this.#clocks.steady();
    this.#ends.set(key, this.#clocks.steady() + leftMs);
    return false;
  }

  forget(name: string, at: number): void {
    this.#ends.delete(keyOf(name, at));
  }
}

function keyOf(name: string, at: number): string {
  return `${name} ${at}`;
}
