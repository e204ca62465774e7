import { type CacheHints, cacheHintsOf, mergeCacheHints } from '@notebridge/protocol/core/cache-hints';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { type ListMethod, listMethods } from '@notebridge/protocol/core/list-methods';
import type { LeftOutEntry } from '@notebridge/protocol/core/tool-server';
import type { JsonObject } from '@notebridge/protocol/json';
import type { Logger } from '@notebridge/protocol/util/logger';
import { appendAll } from '@notebridge/protocol/util/long-lists';
import { quote } from '@notebridge/protocol/util/quote';
import { toLeftOut, toValidList } from '../catalog/valid-entries.js';
import type { UpstreamSession } from './upstream-session.js';

/** A server that pages on for ever is left after so many. */
const maxPages = 1000;
/** How long one page may take. Milliseconds. */
const pageTimeoutMs = 30_000;

/** A list as it was fetched. */
export interface FetchedList {
  /** In the order in which the server lists them, each valid and under a name of its own. */
  items: readonly JsonObject[];
  leftOut: readonly LeftOutEntry[];
  /** How many were changed to be valid. */
  changed: number;
  /** How long the list holds from then on, as far as the server says so. */
  cache: CacheHints | undefined;
}

/** A whole list of a server, page by page. Of two entries of one name the first counts. Rejects as a request does. */
export async function fetchList(
  session: Pick<UpstreamSession, 'request'>,
  method: ListMethod,
  { server, logger }: { server: string; logger: Logger },
): Promise<FetchedList> {
  const { items: kind, key } = listMethods[method];
  const items = new Map<unknown, JsonObject>();
  const leftOut: LeftOutEntry[] = [];
  const hints: (CacheHints | undefined)[] = [];
  let changed = 0;
  let cursor: unknown;
  for (let page = 0; page < maxPages; page++) {
    const answer = await session.request(method, cursor === undefined ? {} : { cursor }, { timeoutMs: pageTimeoutMs });
    hints.push(cacheHintsOf(answer));
    assertList(method, answer);
    const valid = await toValidList(method, answer);
    changed += valid.changed;
    appendAll(leftOut, valid.leftOut);
    for (const item of valid.result[kind] as JsonObject[]) {
      const name = item[key];
      if (items.has(name)) leftOut.push(toLeftOut(method, item, 'there is another one of that name before it'));
      else items.set(name, item);
    }
    const last = cursor;
    cursor = valid.result.nextCursor;
    if (cursor === undefined || cursor === last) break;
    if (page === maxPages - 1)
      logger.warn(`"${server}" lists its ${kind} on more than ${maxPages} pages; the rest is left out.`, { server });
  }
  return { items: [...items.values()], leftOut, changed, cache: mergeCacheHints(hints) };
}

/** Throws `bad_message` for an answer without a list: what was not listed is not empty. */
export function assertList(method: ListMethod, answer: JsonObject): void {
  const { items } = listMethods[method];
  if (!Array.isArray(answer[items])) throw new BridgeError('bad_message', `"${items}" must be a list, found ${quote(answer[items])}.`);
}

/** A server whose whole list is faulty must not fill the log. */
const maxLogged = 5;
/** Entries that were reported are remembered, so many of them. */
const maxReported = 2000;

/** Reports what a server lists and no agent is shown: each entry once, since lists are read again and again. */
export class LeftOutLog {
  readonly #server: string;
  readonly #logger: Logger;
  readonly #reported = new Set<string>();

  constructor(server: string, logger: Logger) {
    this.#server = server;
    this.#logger = logger;
  }

  report(method: ListMethod, { leftOut, changed }: { leftOut: readonly LeftOutEntry[]; changed: number }): void {
    const server = this.#server;
    const news = leftOut.filter(({ what, why }) => this.#isNew(`${method} ${what} ${why}`));
    for (const { what, why } of news.slice(0, maxLogged))
      this.#logger.warn(`Of "${server}" is left out: ${what}, since ${why}.`, { server });
    if (news.length > maxLogged)
      this.#logger.warn(`Of "${server}" ${news.length - maxLogged} more entries of "${method}" are left out.`, { server });
    if (changed > 0 && this.#isNew(`${method} ${changed}`))
      this.#logger.info(`${changed} entries of "${method}" of "${server}" are passed on changed: clients would refuse the whole list.`, {
        server,
      });
  }

  #isNew(key: string): boolean {
    if (this.#reported.has(key)) return false;
    if (this.#reported.size < maxReported) this.#reported.add(key);
    return true;
  }
}
