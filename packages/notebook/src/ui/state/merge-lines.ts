/** Lines `start` to `end` of the old text become `lines`. */
export interface Hunk {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/** Beyond this many comparisons a person waits; what lies between the common ends then counts as one hunk. */
const maxComparisons = 4_000_000;

/** What makes the new text of the old one, in order. */
export function diffLines(before: string, after: string): Hunk[] {
  const [from, to] = [before.split('\n'), after.split('\n')];
  let head = 0;
  while (head < from.length && head < to.length && from[head] === to[head]) head++;
  let tail = 0;
  while (tail < from.length - head && tail < to.length - head && from.at(-1 - tail) === to.at(-1 - tail)) tail++;
  const [fromEnd, toEnd] = [from.length - tail, to.length - tail];
  if (head === fromEnd && head === toEnd) return [];
  if ((fromEnd - head) * (toEnd - head) > maxComparisons) return [{ start: head, end: fromEnd, lines: to.slice(head, toEnd) }];
  return toHunks(from.slice(head, fromEnd), to.slice(head, toEnd), head);
}

/**
 * The text with both changes in it, or undefined if they touch the same lines: then a person has to choose, since a merge
 * that guesses makes a text that nobody wrote.
 */
export function mergeLines(base: string, mine: string, theirs: string): string | undefined {
  if (mine === theirs || theirs === base) return mine;
  if (mine === base) return theirs;
  const [own, other] = [diffLines(base, mine), diffLines(base, theirs)];
  const merged = [...own, ...other.filter((hunk) => !own.some((same) => isSame(same, hunk)))].sort(
    (a, b) => a.start - b.start || a.end - b.end,
  );
  for (let at = 1; at < merged.length; at++) if (overlaps(merged[at - 1], merged[at])) return undefined;
  const lines = base.split('\n');
  for (const { start, end, lines: added } of merged.reverse()) lines.splice(start, end - start, ...added);
  return lines.join('\n');
}

/** Two insertions at one place overlap as well: which comes first is not ours to say. */
function overlaps(first: Hunk | undefined, second: Hunk | undefined): boolean {
  if (!first || !second) return false;
  if (first.end !== second.start) return first.end > second.start;
  return first.start === first.end || second.start === second.end;
}

function isSame(a: Hunk, b: Hunk): boolean {
  // No line and one empty line are printed alike, and are not the same.
  return a.start === b.start && a.end === b.end && a.lines.length === b.lines.length && a.lines.every((line, at) => line === b.lines[at]);
}

/** Longest common subsequence, by the table. */
function toHunks(from: readonly string[], to: readonly string[], offset: number): Hunk[] {
  const width = to.length + 1;
  const lengths = new Uint32Array((from.length + 1) * width);
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0;
  for (let row = from.length - 1; row >= 0; row--) {
    for (let column = to.length - 1; column >= 0; column--) {
      const isEqual = from[row] === to[column];
      lengths[row * width + column] = isEqual ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const hunks: Hunk[] = [];
  let [row, column] = [0, 0];
  while (row < from.length || column < to.length) {
    const [start, startTo] = [row, column];
    while ((row < from.length || column < to.length) && !(row < from.length && column < to.length && from[row] === to[column])) {
      if (column >= to.length || (row < from.length && at(row + 1, column) >= at(row, column + 1))) row++;
      else column++;
    }
    if (row > start || column > startTo) hunks.push({ start: start + offset, end: row + offset, lines: to.slice(startTo, column) });
    else [row, column] = [row + 1, column + 1];
  }
  return hunks;
}
