import { createHash } from 'node:crypto';
import type { ClusterParts } from '@notebridge/cluster/cluster-parts';
import type { Tool } from '@notebridge/protocol/core/mcp';
import { keepLatest } from '@notebridge/protocol/util/keep-latest';
import { tryJson } from '@notebridge/protocol/util/try-json';
import { StoreConflict } from '@notebridge/system/files/shared-store';
import { toShownTools } from '../../notebooks/pages/page-tools.js';

const prefix = 'page-tools.';
/** A longer list is not kept: what its page has is known again when it comes back. Characters. */
const maxLength = 400_000;
const lifeMs = 7 * 24 * 3_600_000;
/** Lists that are remembered here. */
const maxLists = 100;

/** Lists of tools in the store, each under its own digest: thousands of pages of one kind share one. They are gone a week after they were used last. */
export class PageToolLists {
  readonly #parts: Pick<ClusterParts, 'store' | 'runtime'>;
  /** By its key: a list that is in the store, and when it was written. */
  readonly #known = new Map<string, { text: string; writtenAt: number }>();
  /** The same array has the same key: a page that is looked at often is not printed each time. */
  readonly #keys = new WeakMap<readonly Tool[], string>();

  constructor(parts: Pick<ClusterParts, 'store' | 'runtime'>) {
    this.#parts = parts;
  }

  /** Resolves to the key under which it is; undefined: it is too long. Rejects with `StoreUnavailable`. */
  async keep(tools: readonly Tool[]): Promise<string | undefined> {
    const named = this.#keys.get(tools);
    if (named !== undefined && this.#isFresh(named)) return named;
    const text = JSON.stringify(tools);
    if (text.length > maxLength) return undefined;
    const key = keyOf(text);
    if (!this.#isFresh(key)) await this.#write(key, text);
    this.#keys.set(tools, key);
    return key;
  }

  /** Undefined: there is none any more. Never rejects: the tools of its profile are listed instead. */
  async read(key: string): Promise<readonly Tool[] | undefined> {
    const known = this.#known.get(key)?.text;
    if (known !== undefined) return toTools(known);
    const entry = await this.#parts.store.get(prefix + key).catch(() => undefined);
    if (entry === undefined || keyOf(entry.value) !== key) return undefined;
    this.#note(key, { text: entry.value, writtenAt: Number.NEGATIVE_INFINITY });
    return toTools(entry.value);
  }

  async #write(key: string, text: string): Promise<void> {
    const { store, runtime } = this.#parts;
    const options = { ttlMs: lifeMs };
    try {
      await store.create(prefix + key, text, options);
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
      const entry = await store.get(prefix + key);
      // Its time begins anew; who else does that at this moment does the same.
      if (entry !== undefined) await store.update(prefix + key, text, entry.revision, options).catch(ignoreConflict);
    }
    this.#note(key, { text, writtenAt: runtime.steady() });
  }

  #isFresh(key: string): boolean {
    const known = this.#known.get(key);
    return known !== undefined && this.#parts.runtime.steady() - known.writtenAt < lifeMs / 2;
  }

  #note(key: string, list: { text: string; writtenAt: number }): void {
    keepLatest(this.#known, [key, list], maxLists);
  }
}

function toTools(text: string): readonly Tool[] | undefined {
  const tools = tryJson(text);
  return Array.isArray(tools) ? toShownTools({ tools }).tools : undefined;
}

function keyOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

function ignoreConflict(error: unknown): void {
  if (!(error instanceof StoreConflict)) throw error;
}
