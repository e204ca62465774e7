import { type CacheHints, mergeCacheHints } from '@notebridge/protocol/core/cache-hints';
import type { CallContext } from '@notebridge/protocol/core/call-context';
import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import { type ListMethod, listMethods } from '@notebridge/protocol/core/list-methods';
import type { Tool } from '@notebridge/protocol/core/mcp';
import type { ToolServer } from '@notebridge/protocol/core/tool-server';
import type { JsonObject } from '@notebridge/protocol/json';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { quote } from '@notebridge/protocol/util/quote';
import { mergeLists } from './merged-lists.js';
import { notListed } from './not-listed.js';

export interface ServerListsOptions {
  /** Those whose things agents see. */
  direct: () => ToolServer[];
  logger: Logger;
  /** How long a list waits for a server. Milliseconds, default 20 s. */
  listWaitMs?: number | undefined;
}

interface ListedByAll {
  all: { server: ToolServer; item: JsonObject }[];
  cache: CacheHints | undefined;
}

export interface ToolsOfServer {
  server: string;
  tools: readonly Tool[];
  cache: CacheHints | undefined;
  /** Why they could not be listed just now. */
  error?: unknown;
}

/** What servers list, and which of them has what. */
export class ServerLists {
  readonly #options: ServerListsOptions;
  /** Why the tools of a server were not listed last. */
  readonly #failures = new WeakMap<ToolServer, unknown>();
  /** Which server listed what last, by list and key, so that reading a resource does not list all of them anew. */
  readonly #owners = new Map<ListMethod, Map<unknown, string>>();

  constructor(options: ServerListsOptions) {
    this.#options = options;
  }

  /** The server that listed it last. */
  ownerNameOf(list: ListMethod, wanted: unknown): string | undefined {
    return this.#owners.get(list)?.get(wanted);
  }

  /** What was learnt of owners may be wrong from here on. */
  forget(): void {
    this.#owners.clear();
  }

  /** The tools of one server, or what is known of them if it fails or takes too long: one server must not hide the others. */
  async toolsOf(server: ToolServer, context: CallContext): Promise<ToolsOfServer> {
    if (server.status === 'disabled') return { server: server.name, tools: [], cache: undefined };
    try {
      const tools = await this.inTime(server, server.listTools(context));
      this.#failures.delete(server);
      return { server: server.name, tools, cache: server.toolsCache };
    } catch (error) {
      if (context.cancellation.reason !== undefined) throw error;
      this.#failures.set(server, error);
      this.#options.logger.warn(`The tools of "${server.name}" are not listed.`, { error: messageOf(error) });
      return { server: server.name, tools: server.knownTools ?? [], cache: undefined, error };
    }
  }

  /**
   * Says that whether a server has a tool is not known; undefined: its tools are. What was listed may be out of date a moment later, as where
   * another hub takes the server over.
   */
  whyToolUnknown(server: ToolServer, tool: string): BridgeError | undefined {
    if (server.knownTools !== undefined || server.status === 'disabled') return undefined;
    return notListed(tool, server.name, this.#failures.get(server) ?? new BridgeError('upstream_unavailable', 'They have changed since.'));
  }

  /** What the servers list besides tools, in their order. One that fails or takes too long is left out; rejects if nothing is left then. */
  async listAll(method: ListMethod, context: CallContext): Promise<ListedByAll> {
    const lists = await Promise.all(
      this.#awake.map(async (server) => {
        try {
          const { offered, cache } = await this.inTime(server, mergeLists([server], method, context));
          return { cache, entries: [...offered.values()].map(({ item }) => ({ server, item })) };
        } catch (error) {
          if (context.cancellation.reason !== undefined) throw error;
          this.#options.logger.warn(`"${server.name}" is left out: it did not answer "${method}".`, { error: messageOf(error) });
          return { cache: undefined, entries: [], error };
        }
      }),
    );
    const { key } = listMethods[method];
    const all = lists.flatMap(({ entries }) => entries);
    const failed = lists.find((list) => 'error' in list);
    if (all.length === 0 && failed !== undefined) throw failed.error;
    this.#owners.set(method, new Map([...all].reverse().map(({ server, item }) => [item[key], server.name])));
    // A server that sleeps is not in it, and may be at any moment.
    const isWhole = this.#options.direct().every(({ status }) => status !== 'stopped');
    return { all, cache: isWhole ? mergeCacheHints(lists.map((each) => each.cache)) : undefined };
  }

  /** What a server answers. Rejects with `timeout` when a list has waited for it long enough. */
  async inTime<Answer>(server: ToolServer, answer: Promise<Answer>): Promise<Answer> {
    const { listWaitMs = 20_000 } = this.#options;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const error = new BridgeError('timeout', `"${server.name}" took longer than ${listWaitMs} ms; it may still be starting.`);
      timer = setTimeout(reject, listWaitMs, error);
    });
    try {
      return await Promise.race([answer, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Hands a request to the server that lists the thing; a resource may exist unlisted, so the others are asked in turn. */
  async requestOwner(list: ListMethod, wanted: unknown, method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    if (this.#ownerOf(list, wanted) === undefined) await this.#learnOwners(list, context);
    const owner = this.#ownerOf(list, wanted);
    if (owner !== undefined) return owner.request(method, params, context);
    const failures: unknown[] = [];
    for (const server of this.#awake) {
      try {
        return await server.request(method, params, context);
      } catch (error) {
        if (context.cancellation.reason !== undefined) throw error;
        failures.push(error);
      }
    }
    // A server that has no resources at all, or cannot be asked, says less than one that looked for this one.
    const saying = failures.filter((error) => codeOf(error) !== 'unknown_method');
    const told = saying.find((error) => codeOf(error) !== 'upstream_unavailable') ?? saying[0] ?? failures[0];
    throw told ?? new BridgeError('bad_params', `No server has ${quote(wanted)}.`);
  }

  /** Whoever cannot list may have the thing nevertheless. */
  async #learnOwners(list: ListMethod, context: CallContext): Promise<void> {
    await this.listAll(list, context).catch((error: unknown) => {
      if (context.cancellation.reason !== undefined) throw error;
    });
  }

  #ownerOf(list: ListMethod, wanted: unknown): ToolServer | undefined {
    const name = this.ownerNameOf(list, wanted);
    return this.#awake.find((server) => server.name === name);
  }

  /** All but those that wait for their first use: only tools are worth a start. One that was given up is tried again, as by tools. */
  get #awake(): ToolServer[] {
    return this.#options.direct().filter(({ status }) => status !== 'stopped' && status !== 'disabled');
  }
}
