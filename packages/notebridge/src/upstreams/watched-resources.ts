import type { JsonObject } from '@notebridge/protocol/json';

/** Resources that are watched over a restart. */
const maxWatched = 1000;

/** Which resources of a server are watched, and by how many: one of several callers who stops must not stop the others. */
export class WatchedResources {
  readonly #watchers = new Map<string, number>();

  /** Those that a server which has just started must be asked for again. */
  get uris(): string[] {
    return [...this.#watchers.keys()];
  }

  /** Counts a `resources/subscribe` or `resources/unsubscribe`. True if the server must be notified. */
  count(method: string, params: JsonObject): boolean {
    const { uri } = params;
    // Not one that can be watched: the server reports that itself.
    if (typeof uri !== 'string') return true;
    const watchers = this.#watchers.get(uri) ?? 0;
    if (method === 'resources/subscribe') {
      if (watchers > 0 || this.#watchers.size < maxWatched) this.#watchers.set(uri, watchers + 1);
      return true;
    }
    if (watchers > 1) this.#watchers.set(uri, watchers - 1);
    else this.#watchers.delete(uri);
    return watchers <= 1;
  }
}
