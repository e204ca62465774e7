/** The candidates most like a word, best first: for "did you mean". */
export function nearest(word: string, candidates: readonly string[], count: number): string[] {
  const wanted = word.slice(0, longestWord).toLowerCase();
  const scored = candidates.map((candidate) => ({ candidate, slips: slipsBetween(wanted, candidate.slice(0, longestWord).toLowerCase()) }));
  const near = scored.filter(({ candidate, slips }) => slips <= Math.max(2, Math.ceil(candidate.length / 2)));
  return near
    .sort((a, b) => a.slips - b.slips)
    .slice(0, count)
    .map(({ candidate }) => candidate);
}

/** Longer words would cost time in proportion to their square. */
const longestWord = 64;

/** Levenshtein distance. */
function slipsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let line = 1; line <= from.length; line++) {
    const next = [line];
    for (let column = 1; column <= to.length; column++) {
      const change = (row[column - 1] ?? 0) + (from[line - 1] === to[column - 1] ? 0 : 1);
      next.push(Math.min(change, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
