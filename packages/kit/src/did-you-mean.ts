/** Comparing a word with more than these takes longer than it is worth. */
const mostCompared = 2000;
/** Longer words are never a typing error, and would cost time in proportion to their square. */
const longestWord = 64;

/**
 * The candidate that was most likely meant by `word`, or undefined if none is near. Case, `-` and `_` do not count; one slip
 * (a wrong, missing, extra or swapped letter) is allowed per three letters, and a beginning of three letters or more is enough.
 */
export function didYouMean(word: string, candidates: readonly string[]): string | undefined {
  const wanted = fold(word);
  let best: { candidate: string; slips: number } | undefined;
  const compared = candidates.slice(0, mostCompared);
  for (const candidate of compared) {
    const slips = slipsBetween(wanted, fold(candidate));
    if (slips <= Math.max(1, Math.floor(wanted.length / 3)) && slips < (best?.slips ?? Infinity)) best = { candidate, slips };
  }
  return best?.candidate ?? compared.find((candidate) => wanted.length >= 3 && fold(candidate).startsWith(wanted));
}

/** The candidates most like a word, best first, where half of a candidate's letters may differ: for lists of what there is. */
export function nearest(word: string, candidates: readonly string[], count: number): string[] {
  const wanted = word.slice(0, longestWord).toLowerCase();
  return candidates
    .slice(0, mostCompared)
    .map((candidate) => ({ candidate, slips: slipsBetween(wanted, candidate.slice(0, longestWord).toLowerCase()) }))
    .filter(({ candidate, slips }) => slips <= Math.max(2, Math.ceil(candidate.length / 2)))
    .sort((a, b) => a.slips - b.slips)
    .slice(0, count)
    .map(({ candidate }) => candidate);
}

function fold(word: string): string {
  return word.slice(0, longestWord).toLowerCase().replaceAll(/[-_]/g, '');
}

/** Levenshtein distance in which two swapped neighbours count as one slip. */
function slipsBetween(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
        swapped ? at(beforeLast, column - 2) + 1 : Infinity,
      );
    }
    [beforeLast, last] = [last, current];
  }
  return at(last, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
