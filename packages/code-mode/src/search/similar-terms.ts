import { getOrMake } from '@notebridge/protocol/util/get-or-make';
import { slipsBetween } from '@notebridge/protocol/util/slips';

/** Finds terms by their beginning, and those that are like another but for some slips. */
export class SimilarTerms {
  readonly #minLength: number;
  readonly #byBeginning = new Map<string, string[]>();
  /** With the letters that each has, as bits: most terms are told apart by them alone. */
  readonly #byLength = new Map<number, { terms: string[]; letters: number[] }>();

  /** @param minLength Of what is looked for. */
  constructor(minLength: number) {
    this.#minLength = minLength;
  }

  /** Each term once. */
  add(term: string): void {
    getOrMake(this.#byBeginning, term.slice(0, this.#minLength), () => []).push(term);
    const { terms, letters } = getOrMake(this.#byLength, term.length, () => ({ terms: [], letters: [] }));
    terms.push(term);
    letters.push(lettersOf(term));
  }

  /** The terms that begin with this one, without itself. */
  longerThan(term: string): string[] {
    const alike = this.#byBeginning.get(term.slice(0, this.#minLength)) ?? [];
    return alike.filter((other) => other.length > term.length && other.startsWith(term));
  }

  /** The terms with up to so many slips, at least one. */
  near(term: string, most: number): { term: string; slips: number }[] {
    const found: { term: string; slips: number }[] = [];
    const own = lettersOf(term);
    for (let length = term.length - most; length <= term.length + most; length++) {
      const { terms = [], letters = [] } = this.#byLength.get(length) ?? {};
      for (let at = 0; at < terms.length; at++) {
        const others = letters[at] as number;
        // Each slip takes away one letter at most, and adds one.
        if (countBits(others & ~own) > most || countBits(own & ~others) > most) continue;
        const other = terms[at] as string;
        const slips = slipsBetween(term, other, most);
        if (slips > 0 && slips <= most) found.push({ term: other, slips });
      }
    }
    return found;
  }
}

/** Letters that share a bit are held to be the same. */
function lettersOf(term: string): number {
  let letters = 0;
  for (let at = 0; at < term.length; at++) letters |= 1 << (term.charCodeAt(at) & 31);
  return letters;
}

function countBits(bits: number): number {
  const pairs = bits - ((bits >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return (((fours + (fours >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}
