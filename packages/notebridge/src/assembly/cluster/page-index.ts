import type { Runtime } from '@notebridge/protocol/util/runtime';
import type { PageProfile } from '../../notebooks/profiles/profile.js';
import { digestsIn, type PageRecord } from './page-records.js';

/** Pages whose token nobody knows yet, and that wait for news of it. */
const maxWaiting = 256;

interface IndexedPage {
  digests: readonly string[];
  profile: string;
  origins: readonly string[];
}

/**
 * The pages of the cluster by the digests of their tokens: ten thousand cost one look each. Who looks a digest up by its text learns nothing by
 * the time that it takes, since nobody can choose one; the slot itself compares once more, in constant time.
 */
export class PageIndex {
  readonly #profiles: ReadonlyMap<string, PageProfile>;
  readonly #runtime: Runtime;
  readonly #byDigest = new Map<string, string>();
  readonly #pages = new Map<string, IndexedPage>();
  /** How many pages let each origin in. */
  readonly #origins = new Map<string, number>();
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor({ profiles, runtime }: { profiles: readonly PageProfile[]; runtime: Runtime }) {
    this.#profiles = new Map(profiles.map((profile) => [profile.name, profile]));
    this.#runtime = runtime;
  }

  /** What is known of a page now; undefined: it is forgotten. */
  note(id: string, record: PageRecord | undefined): void {
    const before = this.#pages.get(id);
    for (const digest of before?.digests ?? []) if (this.#byDigest.get(digest) === id) this.#byDigest.delete(digest);
    for (const origin of before?.origins ?? []) this.#count(origin, -1);
    this.#pages.delete(id);
    if (record === undefined) return;
    const page = { digests: digestsIn(record), profile: record.profile, origins: record.allowOrigins };
    this.#pages.set(id, page);
    for (const origin of page.origins) this.#count(origin, 1);
    for (const digest of page.digests) {
      this.#byDigest.set(digest, id);
      for (const call of this.#waiting.get(digest) ?? []) call();
    }
  }

  idOf(digest: Buffer): string | undefined {
    return this.#byDigest.get(digest.toString('base64url'));
  }

  /** As `idOf`, but waits a while for news that are on their way: a page may be faster than they are. */
  async idSoon(digest: Buffer, ms: number): Promise<string | undefined> {
    const known = this.idOf(digest);
    if (known !== undefined || this.#waiting.size >= maxWaiting) return known;
    const text = digest.toString('base64url');
    const calls = this.#waiting.get(text) ?? new Set();
    this.#waiting.set(text, calls);
    await new Promise<void>((resolve) => {
      const finish = (): void => {
        callOff();
        calls.delete(finish);
        if (calls.size === 0) this.#waiting.delete(text);
        resolve();
      };
      const callOff = this.#runtime.after(ms, finish);
      calls.add(finish);
    });
    return this.idOf(digest);
  }

  /** Whether a page of this origin may be in this one; left out: in any. */
  allowsOrigin(origin: string, id?: string): boolean {
    if (origin === '' || origin === 'null') return false;
    if (id === undefined) return this.#origins.has(origin) || [...this.#profiles.values()].some(({ origins }) => origins.includes(origin));
    const page = this.#pages.get(id);
    if (page === undefined) return false;
    return page.origins.includes(origin) || this.#profiles.get(page.profile)?.origins.includes(origin) === true;
  }

  #count(origin: string, by: number): void {
    const count = (this.#origins.get(origin) ?? 0) + by;
    if (count > 0) this.#origins.set(origin, count);
    else this.#origins.delete(origin);
  }
}
