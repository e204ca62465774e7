import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import { isJsonObject } from '@notebridge/protocol/json';
import type { McpClient } from '@notebridge/protocol/rpc/mcp-client';
import { maxPageToolNameLength } from './page-tools.js';

interface Known {
  client: McpClient;
  /** Undefined before the page was asked. */
  names?: ReadonlySet<string>;
  /** True for a page that does not list its tools: it may have any. */
  isSilent?: boolean;
  asking?: Promise<void>;
}

/** Pages of a list that are read; one that is longer may hold anything. */
const maxPages = 20;

/**
 * Which tools the connected page lists, so that a call of another is answered by us. It is asked once, and again when its
 * list changes and for a name that was not in it: a page may add a tool without a notification.
 */
export class ListedTools {
  readonly #timeoutMs: number;
  /** Another object after each change, so that a list asked for before it is not remembered. */
  #known: Known | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Records a whole list that the page has given to another caller. */
  remember(client: McpClient, tools: unknown): void {
    const names = namesOf(tools);
    if (names !== undefined) this.#known = { client, names: new Set(names) };
  }

  /** Drops what is known: the list has changed. */
  forget(): void {
    this.#known = undefined;
  }

  /** True if the page is known to list the tool. */
  includes(client: McpClient, name: unknown): boolean {
    const known = this.#known;
    return known?.client === client && (known.isSilent === true || known.names?.has(name as string) === true);
  }

  /** Asks the page for its list. Resolves to whether it may have the tool; rejects with `not_connected` if it leaves meanwhile. */
  async ask(client: McpClient, name: unknown): Promise<boolean> {
    if (this.#known?.client !== client) this.#known = { client };
    const known = this.#known;
    known.asking ??= this.#read(known).finally(() => delete known.asking);
    await known.asking;
    return known.isSilent === true || known.names?.has(name as string) === true;
  }

  async #read(known: Known): Promise<void> {
    try {
      const names = await this.#readNames(known.client);
      if (names === undefined) known.isSilent = true;
      else known.names = names;
    } catch (error) {
      const code = codeOf(error);
      if (code === 'page_gone' || code === 'not_connected' || code === 'closed')
        throw new BridgeError('not_connected', 'The notebook page is leaving.', { cause: error });
      known.isSilent = true;
    }
  }

  async #readNames(client: McpClient): Promise<ReadonlySet<string> | undefined> {
    const names = new Set<string>();
    let cursor: string | undefined;
    for (let page = 0; page < maxPages; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const { tools, nextCursor } = await client.request('tools/list', params, { timeoutMs: this.#timeoutMs });
      const listed = namesOf(tools);
      if (listed === undefined) return undefined;
      for (const name of listed) names.add(name);
      if (typeof nextCursor !== 'string') return names;
      cursor = nextCursor;
    }
    return undefined;
  }
}

function namesOf(tools: unknown): string[] | undefined {
  if (!Array.isArray(tools)) return undefined;
  const names = tools.map((tool: unknown) => (isJsonObject(tool) ? tool.name : undefined));
  return names.filter((name) => typeof name === 'string' && name.length <= maxPageToolNameLength) as string[];
}
