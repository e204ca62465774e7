import type { CacheHints } from '@notebridge/protocol/core/cache-hints';
import type { Tool } from '@notebridge/protocol/core/mcp';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';

export interface RemoteToolListOptions {
  /** Has whoever has the server list its tools, for this hub itself: an agent that hangs up ends it for no other. */
  ask: () => Promise<JsonObject>;
  /** What the owner says of its list now: another one with each change. Undefined: it says nothing. */
  digest: () => unknown;
}

interface ListedTools {
  digest: unknown;
  tools: readonly Tool[];
  cache: CacheHints | undefined;
}

/** The tools of a server as another hub has listed them. */
export class RemoteToolList {
  readonly #options: RemoteToolListOptions;
  #known: ListedTools | undefined;
  #reading: Promise<ListedTools> | undefined;

  constructor(options: RemoteToolListOptions) {
    this.#options = options;
  }

  /** As last listed. Undefined: never. */
  get known(): readonly Tool[] | undefined {
    return this.#known?.tools;
  }

  get cache(): CacheHints | undefined {
    return this.#known?.cache;
  }

  /** True if what is known is what the owner has. */
  get isCurrent(): boolean {
    return this.#known !== undefined && this.#known.digest === this.#options.digest();
  }

  /** Asks once for all that wait for it. */
  async read(): Promise<readonly Tool[]> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return (await this.#reading).tools;
  }

  async #read(): Promise<ListedTools> {
    // What the owner says while the answer is on its way may be of a newer list than that which comes.
    const before = this.#options.digest();
    const { tools, ...hints } = await this.#options.ask();
    const cache = isJsonObject(hints) && 'ttlMs' in hints ? (hints as unknown as CacheHints) : undefined;
    this.#known = { digest: before ?? this.#options.digest(), tools: Array.isArray(tools) ? (tools as Tool[]) : [], cache };
    return this.#known;
  }
}
