import { randomUUID } from 'node:crypto';
import type { CallContext } from '@notebridge/protocol/core/call-context';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { owner, principalKey } from '@notebridge/protocol/core/principal';
import type { JsonObject } from '@notebridge/protocol/json';
import { quote } from '@notebridge/protocol/util/quote';

interface Kept {
  ownerKey: string;
  method: string;
  /** Where the items stand in the result. */
  key: string;
  items: readonly unknown[];
  /** Milliseconds of the monotonic clock. */
  until: number;
}

/** Items of one page: a list that is longer has several. Many agents read the first page alone, so it is a large one. */
const pageSize = 1000;
/** How long the next page may be asked for. Milliseconds. */
const keptMs = 600_000;
/** Lists that are kept at once; the oldest gives way. */
const maxLists = 64;

/**
 * Long lists, page by page. The whole list is kept as it was when its first page was asked for, so that nothing is lost or doubled when a
 * provider changes meanwhile: of that an agent is notified, as ever, and lists anew.
 */
export class ListPages {
  readonly #now: () => number;
  readonly #lists = new Set<Kept>();
  /** By cursor: a random one for each page, so that none can be guessed or made from another. */
  readonly #pages = new Map<string, { list: Kept; start: number }>();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** The first page of a result; all of one that is short, or has pages already. */
  first(method: string, key: string, result: JsonObject, context: CallContext): JsonObject {
    const items = result[key];
    if (!Array.isArray(items) || items.length <= pageSize || result.nextCursor !== undefined) return result;
    this.#forgetOld();
    const list: Kept = { ownerKey: ownerKeyOf(context), method, key, items, until: this.#now() + keptMs };
    this.#lists.add(list);
    for (let start = pageSize; start < items.length; start += pageSize) this.#pages.set(randomUUID(), { list, start });
    return { ...result, [key]: items.slice(0, pageSize), nextCursor: this.#cursorOf(list, pageSize) };
  }

  /** Undefined for a cursor that is none of ours, or another's, or too old. */
  next(method: string, cursor: unknown, context: CallContext): JsonObject | undefined {
    const page = this.#pages.get(cursor as string);
    if (page === undefined) return undefined;
    const { list, start } = page;
    if (list.method !== method || list.ownerKey !== ownerKeyOf(context) || this.#now() > list.until) return undefined;
    const end = start + pageSize;
    const nextCursor = end < list.items.length ? { nextCursor: this.#cursorOf(list, end) } : {};
    return { [list.key]: list.items.slice(start, end), ...nextCursor };
  }

  #cursorOf(list: Kept, start: number): string {
    const found = [...this.#pages].find(([, page]) => page.list === list && page.start === start);
    return found?.[0] ?? '';
  }

  #forgetOld(): void {
    const now = this.#now();
    for (const list of this.#lists) {
      if (now <= list.until && this.#lists.size < maxLists) continue;
      this.#lists.delete(list);
      for (const [cursor, page] of this.#pages) if (page.list === list) this.#pages.delete(cursor);
    }
  }
}

export function unknownCursor(method: string, cursor: unknown): BridgeError {
  return new BridgeError(
    'bad_params',
    `The cursor ${quote(cursor)} is of no list that "${method}" has given here lately. List anew, without it.`,
  );
}

/** Cursors are for who got them: in a session, or, where there are none, for the same principal. */
function ownerKeyOf({ caller: { principal = owner, era, sessionId } }: CallContext): string {
  return `${era === 'modern' ? '' : sessionId} ${principalKey(principal)}`;
}
