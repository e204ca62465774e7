import { diffArrays } from 'diff';

/** Lines `start` to `end` of the old text become `lines`. */
export interface Hunk {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/**
 * With more lines that come or go a person waits: the effort grows with their square. What lies between the common ends then
 * counts as one hunk.
 */
const maxEdits = 500;

/** What makes the new text of the old one, in order. */
export function diffLines(before: string, after: string): Hunk[] {
  const [from, to] = [before.split('\n'), after.split('\n')];
  const changes = diffArrays(from, to, { maxEditLength: maxEdits });
  if (changes === undefined) return [betweenCommonEnds(from, to)];
  const hunks: Hunk[] = [];
  let [start, end] = [0, 0];
  let lines: string[] = [];
  for (const { value, added, removed } of [...changes, lastCommon]) {
    if (added) lines = lines.concat(value);
    else if (removed) end += value.length;
    else {
      if (start < end || lines.length > 0) hunks.push({ start, end, lines });
      [start, end, lines] = [end + value.length, end + value.length, []];
    }
  }
  return hunks;
}

const lastCommon = { value: [], added: false, removed: false };

function betweenCommonEnds(from: readonly string[], to: readonly string[]): Hunk {
  let head = 0;
  while (from[head] === to[head]) head++;
  let tail = 0;
  while (tail < Math.min(from.length, to.length) - head && from.at(-1 - tail) === to.at(-1 - tail)) tail++;
  return { start: head, end: from.length - tail, lines: to.slice(head, to.length - tail) };
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
  const parts: (readonly string[])[] = [];
  let at = 0;
  for (const { start, end, lines: added } of merged) {
    parts.push(lines.slice(at, start), added);
    at = end;
  }
  return [...parts, lines.slice(at)].flat().join('\n');
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
