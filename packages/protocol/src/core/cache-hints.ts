import type { JsonObject } from '../json.js';

/** How long a list or a resource may be kept, and by whom: marks of the modern era, which other servers do not set. */
export interface CacheHints {
  /** Milliseconds. */
  ttlMs: number;
  /** `public`: the same for every caller. */
  cacheScope: 'public' | 'private';
}

/** What a result says of it; undefined if that is nothing, or nothing that can be used. */
export function cacheHintsOf({ ttlMs, cacheScope }: JsonObject): CacheHints | undefined {
  if (typeof ttlMs !== 'number' || !Number.isSafeInteger(ttlMs) || ttlMs < 0) return undefined;
  return { ttlMs, cacheScope: cacheScope === 'public' ? 'public' : 'private' };
}

/** What holds for a result that was put together of several: the least time, the narrowest scope. Nothing, if one of them says nothing. */
export function mergeCacheHints(all: readonly (CacheHints | undefined)[]): CacheHints | undefined {
  const [first, ...rest] = all;
  let merged = first;
  for (const hints of rest) {
    if (merged === undefined || hints === undefined) return undefined;
    const isPublic = merged.cacheScope === 'public' && hints.cacheScope === 'public';
    merged = { ttlMs: Math.min(merged.ttlMs, hints.ttlMs), cacheScope: isPublic ? 'public' : 'private' };
  }
  return merged;
}

/** The result for a caller who does not get what every caller gets: others must not be given it out of a cache. */
export function toPrivateResult<Result extends JsonObject>(result: Result): Result {
  return result.cacheScope === 'public' ? { ...result, cacheScope: 'private' } : result;
}
