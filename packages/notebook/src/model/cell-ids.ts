import { revOf } from '@notebridge/protocol/runs/cell-rev';
import type { CellContent } from './cell.js';

/** A cell that is known already: its id, and the revision of what it holds. */
export interface KnownCell {
  readonly id: string;
  readonly rev: number;
}

export function toKnown(cells: readonly CellContent[]): KnownCell[] {
  return cells.map((cell) => ({ id: cell.id, rev: revOf(cell) }));
}

/** A new cell id as nbformat makes them: eight hexadecimal digits. Only has to be unlike the others of its notebook. */
export function createCellId(isTaken: (id: string) => boolean): string {
  for (;;) {
    const id = toHex(Math.floor(Math.random() * 2 ** 32));
    if (!isTaken(id)) return id;
  }
}

/**
 * Gives ids to cells of a file that have none. A cell that was known gets its old id: one with the same text, else the one in the same
 * place between two that are the same. For the others ids are made from place and text, so that the same file read again gives the same.
 */
export function giveIds(cells: readonly { id: string | undefined; type: string; source: string }[], known: readonly KnownCell[]): string[] {
  const taken = new Set(cells.flatMap(({ id }) => id ?? []));
  if (taken.size === cells.length) return [...taken];
  const lacking = cells.flatMap((cell, index) => (cell.id === undefined ? [{ index, cell, rev: revOf(cell) }] : []));
  const free = known.filter(({ id }) => !taken.has(id));
  const given = new Map<number, string>();
  for (const [at, knownAt] of matchCells(lacking, free)) given.set(lacking[at]?.index ?? -1, free[knownAt]?.id ?? '');
  for (const id of given.values()) taken.add(id);
  return cells.map(({ id, type, source }, index) => {
    const own = id ?? given.get(index) ?? deriveCellId(`${index}:${type}:${source}`, (candidate) => taken.has(candidate));
    taken.add(own);
    return own;
  });
}

type Revised = Pick<KnownCell, 'rev'>;

/** Which cell was which: by index, the new ones to the old ones. */
function matchCells(now: readonly Revised[], before: readonly Revised[]): Map<number, number> {
  const matches = new Map<number, number>();
  const isSame = (at: number, knownAt: number) => now[at]?.rev === before[knownAt]?.rev;
  const shorter = Math.min(now.length, before.length);
  let start = 0;
  while (start < shorter && isSame(start, start)) start++;
  let end = 0;
  while (end < shorter - start && isSame(now.length - 1 - end, before.length - 1 - end)) end++;
  for (let at = 0; at < start; at++) matches.set(at, at);
  for (let at = 1; at <= end; at++) matches.set(now.length - at, before.length - at);
  const places = new Map<number, number[]>();
  for (let knownAt = before.length - end - 1; knownAt >= start; knownAt--) {
    const { rev } = before[knownAt] as Revised;
    const same = places.get(rev);
    if (same) same.push(knownAt);
    else places.set(rev, [knownAt]);
  }
  for (let at = start; at < now.length - end; at++) {
    const knownAt = places.get((now[at] as Revised).rev)?.pop();
    if (knownAt !== undefined) matches.set(at, knownAt);
  }
  matchBetween(matches, { now, before });
  return matches;
}

/** What stands behind the same cell as before is the same cell with another text. */
function matchBetween(matches: Map<number, number>, { now, before }: { now: readonly Revised[]; before: readonly Revised[] }): void {
  const used = new Set(matches.values());
  let next = 0;
  for (let at = 0; at < now.length; at++) {
    const matched = matches.get(at);
    if (matched === undefined && next < before.length && !used.has(next)) {
      matches.set(at, next);
      used.add(next);
    }
    next = (matches.get(at) ?? next - 1) + 1;
  }
}

function deriveCellId(seed: string, isTaken: (id: string) => boolean): string {
  for (let salt = 0; ; salt++) {
    const id = toHex(hash(`${salt}:${seed}`));
    if (!isTaken(id)) return id;
  }
}

/** FNV-1a with 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 0;
}

function toHex(value: number): string {
  return value.toString(16).padStart(8, '0');
}
