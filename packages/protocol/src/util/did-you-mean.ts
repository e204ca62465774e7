import { slipsBetween } from './slips.js';

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
  let best: string | undefined;
  const compared = candidates.slice(0, mostCompared);
  let most = Math.max(1, Math.floor(wanted.length / 3));
  for (const candidate of compared) {
    const slips = slipsBetween(wanted, fold(candidate), most);
    if (slips > most) continue;
    best = candidate;
    // Only a nearer one is better.
    most = slips - 1;
  }
  return best ?? compared.find((candidate) => wanted.length >= 3 && fold(candidate).startsWith(wanted));
}

/** The candidates most like a word, best first, where half of a candidate's letters may differ: for lists of what there is. */
export function nearest(word: string, candidates: readonly string[], count: number): string[] {
  const wanted = word.slice(0, longestWord).toLowerCase();
  return candidates
    .slice(0, mostCompared)
    .map((candidate) => {
      const most = Math.max(2, Math.ceil(candidate.length / 2));
      return { candidate, most, slips: slipsBetween(wanted, candidate.slice(0, longestWord).toLowerCase(), most) };
    })
    .filter(({ slips, most }) => slips <= most)
    .sort((a, b) => a.slips - b.slips)
    .slice(0, count)
    .map(({ candidate }) => candidate);
}

function fold(word: string): string {
  return word.slice(0, longestWord).toLowerCase().replaceAll(/[-_]/g, '');
}
