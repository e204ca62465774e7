import type { JsonObject } from '@notebridge/protocol/json';
import type { CellContent, Notebook } from '../model/cell.js';
import { isSameJson, keysOf, toObject } from '../model/json.js';

/** Whose version counts where both have changed the same thing. */
export type Preference = 'mine' | 'theirs';

export interface Merge {
  readonly notebook: Notebook;
  /** What both have changed, in words; empty if the merge needs nobody's decision. */
  readonly overlaps: readonly string[];
}

/** Three versions of one thing: as it was when both agreed, and what each side has made of it. */
type Whole<T> = { readonly [version in 'base' | Preference]: T };

/** Undefined where it is not there. */
type Versions<T> = Whole<T | undefined>;

/**
 * Joins what was changed here and what another program changed in the file. Cells belong together by their ids. Text, outputs and
 * each key of the metadata of a cell are things of their own: a run here and an edit there do not overlap.
 */
export function mergeNotebooks(base: Notebook, mine: Notebook, theirs: Notebook, prefer: Preference = 'mine'): Merge {
  const merger = new Merger(prefer);
  const cells = merger.cells({ base: base.cells, mine: mine.cells, theirs: theirs.cells });
  const metadata = merger.object('the metadata of the notebook', partOf({ base, mine, theirs }, 'metadata'));
  const extra = merger.object('the notebook', partOf({ base, mine, theirs }, 'extra'));
  const minor = Math.max(mine.minor, theirs.minor);
  const notebook = { metadata, minor, cells, ...(keysOf(extra).length > 0 ? { extra } : {}) };
  return { notebook, overlaps: merger.overlaps };
}

/** True if both cells would be the same in a file. */
export function isSameCell(left: CellContent, right: CellContent): boolean {
  return left === right || cellKeys.every((key) => isSameJson(left[key], right[key]));
}

const textKeys = ['type', 'source', 'attachments'] as const;
const runKeys = ['outputs', 'executionCount'] as const;
const cellKeys = [...textKeys, ...runKeys, 'metadata', 'extra'] as const;
type CellKey = (typeof cellKeys)[number];

class Merger {
  readonly overlaps: string[] = [];
  readonly #prefer: Preference;

  constructor(prefer: Preference) {
    this.#prefer = prefer;
  }

  cells({ base, mine, theirs }: Versions<readonly CellContent[]>): CellContent[] {
    const byId = { base: toMap(base), mine: toMap(mine), theirs: toMap(theirs) };
    const merged = new Map<string, CellContent>();
    for (const id of new Set([...byId.mine.keys(), ...byId.theirs.keys()])) {
      const cell = this.#cell(id, { base: byId.base.get(id), mine: byId.mine.get(id), theirs: byId.theirs.get(id) });
      if (cell) merged.set(id, cell);
    }
    const order = mergeOrder({ base: [...byId.base.keys()], mine: [...byId.mine.keys()], theirs: [...byId.theirs.keys()] }, this.#prefer);
    if (order.overlaps) this.overlaps.push('the order of the cells');
    return order.ids.flatMap((id) => merged.get(id) ?? []);
  }

  /** Merges key by key. */
  object(what: string, { base = {}, mine = {}, theirs = {} }: Versions<JsonObject>): JsonObject {
    if (mine === theirs || isSameJson(base, theirs)) return mine;
    const keys = new Set([...keysOf(theirs), ...keysOf(mine)]);
    return toObject(
      [...keys].flatMap((key) => {
        const versions = { base: own(base, key), mine: own(mine, key), theirs: own(theirs, key) };
        const { from, overlaps } = pick(versions, isSameJson, this.#prefer);
        if (overlaps) this.overlaps.push(`"${key}" in ${what}`);
        const holder = from === 'mine' ? mine : theirs;
        return Object.hasOwn(holder, key) ? [[key, holder[key]] as const] : [];
      }),
    );
  }

  #cell(id: string, versions: Versions<CellContent>): CellContent | undefined {
    const { mine, theirs } = versions;
    if (mine && theirs) return this.#parts(id, versions, mine, theirs);
    // One of the two has deleted the cell, or the other has added it.
    const same = (left: CellContent | undefined, right: CellContent | undefined) =>
      left === right || (left !== undefined && right !== undefined && isSameCell(left, right));
    const { from, overlaps } = pick(versions, same, this.#prefer);
    if (overlaps)
      this.overlaps.push(`the cell "${id}" (deleted ${mine ? 'in the file' : 'here'}, changed ${mine ? 'here' : 'in the file'})`);
    return versions[from];
  }

  #parts(id: string, versions: Versions<CellContent>, mine: CellContent, theirs: CellContent): CellContent {
    const part = (keys: readonly CellKey[], what: string) => {
      const same = (left: CellContent | undefined, right: CellContent | undefined) =>
        left !== undefined && right !== undefined && keys.every((key) => isSameJson(left[key], right[key]));
      const { from, overlaps } = pick(versions, same, this.#prefer);
      if (overlaps) this.overlaps.push(`${what} of the cell "${id}"`);
      return from === 'mine' ? mine : theirs;
    };
    const text = part(textKeys, 'the text');
    const run = text.type === 'code' ? part(runKeys, 'the outputs') : undefined;
    const metadata = this.object(`the metadata of the cell "${id}"`, partOf(versions, 'metadata'));
    const extra = this.object(`the cell "${id}"`, partOf(versions, 'extra'));
    return {
      id,
      type: text.type,
      source: text.source,
      metadata,
      ...(text.attachments ? { attachments: text.attachments } : {}),
      outputs: run?.type === 'code' ? run.outputs : [],
      executionCount: run?.type === 'code' ? run.executionCount : null,
      ...(keysOf(extra).length > 0 ? { extra } : {}),
    };
  }
}

/** The side that has changed a thing; where both have, the preferred one, unless they agree. */
function pick<T>(
  { base, mine, theirs }: Versions<T>,
  isSame: (left: T | undefined, right: T | undefined) => boolean,
  prefer: Preference,
): { from: Preference; overlaps: boolean } {
  if (isSame(mine, theirs) || isSame(base, theirs)) return { from: 'mine', overlaps: false };
  if (isSame(base, mine)) return { from: 'theirs', overlaps: false };
  return { from: prefer, overlaps: true };
}

function partOf(
  { base, mine, theirs }: Versions<Pick<CellContent, 'metadata' | 'extra'>>,
  key: 'metadata' | 'extra',
): Versions<JsonObject> {
  return { base: base?.[key], mine: mine?.[key], theirs: theirs?.[key] };
}

function toMap(cells: readonly CellContent[] = []): Map<string, CellContent> {
  return new Map(cells.map((cell) => [cell.id, cell]));
}

function own(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/**
 * The order of all cells of both sides: that of the side which has moved cells, with the cells that only the other one has behind
 * the cell that they follow there. It overlaps if both sides have moved cells, and not to the same order.
 */
function mergeOrder({ base, mine, theirs }: Whole<readonly string[]>, prefer: Preference): { ids: string[]; overlaps: boolean } {
  const isMoved = { mine: hasMoved(base, mine), theirs: hasMoved(base, theirs) };
  const isMovedByBoth = isMoved.mine && isMoved.theirs;
  const overlaps = isMovedByBoth && !isSameOrder(common(mine, theirs), common(theirs, mine));
  const isMine = isMovedByBoth ? prefer === 'mine' : !isMoved.theirs;
  return { ids: isMine ? weave(mine, theirs) : weave(theirs, mine), overlaps };
}

function hasMoved(base: readonly string[], now: readonly string[]): boolean {
  return !isSameOrder(common(base, now), common(now, base));
}

/** The ids of `ids` that `others` has too. */
function common(ids: readonly string[], others: readonly string[]): string[] {
  const known = new Set(others);
  return ids.filter((id) => known.has(id));
}

function isSameOrder(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((id, index) => id === right[index]);
}

/** `spine`, and what only `others` has, behind what it follows there. */
function weave(spine: readonly string[], others: readonly string[]): string[] {
  const inSpine = new Set(spine);
  const followers = new Map<string | undefined, string[]>();
  let last: string | undefined;
  for (const id of others) {
    if (inSpine.has(id)) last = id;
    else followers.set(last, [...(followers.get(last) ?? []), id]);
  }
  return [...(followers.get(undefined) ?? []), ...spine.flatMap((id) => [id, ...(followers.get(id) ?? [])])];
}
