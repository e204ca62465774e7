import { getOrMake } from '@notebridge/protocol/util/get-or-make';
import { foldName } from './one-line.js';
import type { Entry } from './show-tools.js';
import { SimilarTerms } from './similar-terms.js';
import { TimeSlices } from './time-slices.js';
import { type SearchedTerms, searchedFields, termsOfSkill, termsOfTool } from './tool-terms.js';
import { ideasOf, isCommon, isIdea, searchWordsOf, stemOf } from './words.js';

/** How much a word counts by where it is found. */
const boost = { name: 1.2, whole: 6, server: 2, title: 0.8, description: 3, arguments: 0.5, details: 0.15 };
const boosts = searchedFields.map((field) => boost[field]);
/** What another word for the same idea counts, beside the word itself. */
const ideaWeight = 0.5;
/** The weight of the beginning of a word, and of a word with a slip. The more there is besides, the less. */
const prefixWeight = (term: string, longer: string): number =>
  (0.3 * longer.length) / (longer.length + 0.3 * (longer.length - term.length));
const slipWeight = (other: string, slips: number): number => (0.2 * other.length) / (other.length + slips);
const bm25 = { k: 1.2, b: 0.5, d: 0.3 };
/** What a word counts of which only the idea is found, where it counts how many of the words are found. */
const ideaShare = 0.8;
/** Words that are shorter are not looked for by their beginning, nor with a slip. */
const minLength = 4;
/** Words of this length may have two slips. */
const minLengthOfTwo = 6;
/** So many words of a query are looked for. */
const maxWords = 30;
/** A result far behind the best is found by accident. */
const leastScore = 0.12;

/** Where a term stands: three numbers each time, the document, the field, and how often. */
type Postings = number[];

/** The weight of a term in each document that has it. */
interface TermScores {
  documents: readonly number[];
  scores: readonly number[];
}

/** A term that another one may stand for, and what it counts then. */
interface LikeTerm extends TermScores {
  weight: number;
}

/**
 * Finds documents by words: by their stems, by other words for the same, by their beginnings, and with a letter that is wrong. What a word counts
 * hangs on how many of these documents have it, and on nothing else.
 */
export class ToolIndex<Item> {
  readonly #items: Item[] = [];
  readonly #postings = new Map<string, Postings>();
  /** Of terms that stand somewhere, made when they are first looked for: those that callers make up would fill the memory. */
  readonly #scores = new Map<string, TermScores>();
  readonly #like = new Map<string, readonly LikeTerm[]>();
  readonly #similar = new SimilarTerms(minLength);
  /** How many terms each document has in each field, and all of them together. */
  readonly #lengths: readonly number[][] = searchedFields.map(() => []);
  readonly #lengthsOfAll = searchedFields.map(() => 0);

  add(entry: Item, terms: SearchedTerms): void {
    const at = this.#items.push(entry) - 1;
    this.#scores.clear();
    this.#like.clear();
    for (const [field, { terms: own, counts }] of terms.entries()) {
      const length = Math.max(1, own.length);
      this.#lengths[field]?.push(length);
      this.#lengthsOfAll[field] = (this.#lengthsOfAll[field] ?? 0) + length;
      for (const [each, term] of own.entries()) this.#postingsOf(term).push(at, field, counts[each] ?? 0);
    }
  }

  /** Finds, best first, of what may be found. `score`: beside that of the best one, which is 1. */
  async find(query: string, mayFind: (entry: Item) => boolean): Promise<{ entry: Item; score: number }[]> {
    const items = this.#items;
    const words = wordsOfQuery(query);
    const findings = new Findings(items.length);
    const turns = new TimeSlices();
    for (const term of new Set(words.flatMap(({ term, ideas }) => [term, ...ideas]))) {
      findings.add(term, this.#termsLike(term));
      await turns.pause();
    }
    const best = findings.best(words, (at) => mayFind(items[at] as Item));
    return best.map(({ at, score }) => ({ entry: items[at] as Item, score }));
  }

  #postingsOf(term: string): Postings {
    return getOrMake(this.#postings, term, () => {
      if (!isIdea(term)) this.#similar.add(term);
      return [];
    });
  }

  /** The terms that a term of a query may stand for. */
  #termsLike(term: string): readonly LikeTerm[] {
    const known = this.#like.get(term);
    if (known !== undefined) return known;
    const like = this.#findLike(term).map(([other, weight]): LikeTerm => ({ ...this.#scoresOf(other), weight }));
    if (this.#postings.has(term)) this.#like.set(term, like);
    return like;
  }

  #findLike(term: string): [term: string, weight: number][] {
    if (isIdea(term)) return [[term, ideaWeight]];
    if (term.length < minLength) return [[term, 1]];
    const longer = this.#similar.longerThan(term).map((other): [string, number] => [other, prefixWeight(term, other)]);
    // A word that stands somewhere is meant as it is.
    if (this.#postings.has(term)) return [[term, 1], ...longer];
    const near = this.#similar.near(term, term.length < minLengthOfTwo ? 1 : 2).filter((other) => !other.term.startsWith(term));
    return [...longer, ...near.map(({ term: other, slips }): [string, number] => [other, slipWeight(other, slips)])];
  }

  #scoresOf(term: string): TermScores {
    const postings = this.#postings.get(term);
    if (postings === undefined) return { documents: [], scores: [] };
    return getOrMake(this.#scores, term, () => this.#toScores(postings));
  }

  #toScores(postings: Postings): TermScores {
    const having = searchedFields.map(() => 0);
    for (let at = 1; at < postings.length; at += 3) {
      const field = postings[at] ?? 0;
      having[field] = (having[field] ?? 0) + 1;
    }
    const documents: number[] = [];
    const scores: number[] = [];
    for (let at = 0; at < postings.length; at += 3) {
      const [document = 0, field = 0, count = 0] = [postings[at], postings[at + 1], postings[at + 2]];
      const score = this.#score(count, { document, field, having: having[field] ?? 0 });
      const last = scores.length - 1;
      // The entries of one document in several fields stand together.
      if (documents[last] === document) scores[last] = (scores[last] ?? 0) + score;
      else {
        documents.push(document);
        scores.push(score);
      }
    }
    return { documents, scores };
  }

  /** BM25+, in one field. */
  #score(count: number, { document, field, having }: { document: number; field: number; having: number }): number {
    const { k, b, d } = bm25;
    const rarity = Math.log(1 + (this.#items.length - having + 0.5) / (having + 0.5));
    const length = ((this.#lengths[field]?.[document] ?? 1) * this.#items.length) / (this.#lengthsOfAll[field] ?? 1);
    return (boosts[field] ?? 1) * rarity * (d + (count * (k + 1)) / (count + k * (1 - b + b * length)));
  }
}

/** The index of what one principal sees. What it does not see is not known here, so that it changes nothing of an answer. */
export async function indexOf(entries: readonly Entry[]): Promise<ToolIndex<Entry>> {
  const index = new ToolIndex<Entry>();
  const turns = new TimeSlices();
  for (const entry of entries) {
    index.add(entry, entry.kind === 'tool' ? termsOfTool(entry.server, entry.tool) : termsOfSkill(entry.skill));
    await turns.pause();
  }
  return index;
}

/** The results of one search, by the numbers of documents. */
class Findings {
  readonly #scores: Float64Array;
  /** For which term a document was found last, by number. */
  readonly #lastTerm: Uint16Array;
  readonly #byTerm = new Map<string, number[]>();

  constructor(size: number) {
    this.#scores = new Float64Array(size);
    this.#lastTerm = new Uint16Array(size);
  }

  /** @param like What the term may stand for. */
  add(term: string, like: readonly LikeTerm[]): void {
    const found: number[] = [];
    this.#byTerm.set(term, found);
    const number = this.#byTerm.size;
    const sums = this.#scores;
    const lastTerm = this.#lastTerm;
    for (const { documents, scores, weight } of like)
      for (let at = 0; at < documents.length; at++) {
        const document = documents[at] ?? 0;
        sums[document] = (sums[document] ?? 0) + weight * (scores[at] ?? 0);
        if (lastTerm[document] === number) continue;
        lastTerm[document] = number;
        found.push(document);
      }
  }

  /** A document counts the more, the more of the terms and of the words were found in it. */
  best(words: readonly QueryWord[], mayFind: (at: number) => boolean): { at: number; score: number }[] {
    const size = this.#scores.length;
    const terms = new Uint16Array(size);
    for (const found of this.#byTerm.values()) for (const document of found) terms[document] = (terms[document] ?? 0) + 1;
    const shares = this.#sharesOf(words);
    const scores = this.#scores.map((score, at) => (terms[at] === 0 || !mayFind(at) ? 0 : score * (terms[at] ?? 0) * (shares[at] ?? 0)));
    const best = scores.reduce((most, score) => Math.max(most, score), 0);
    const found: { at: number; score: number }[] = [];
    for (let at = 0; at < size; at++) {
      const score = (scores[at] ?? 0) / best;
      if (score >= leastScore) found.push({ at, score });
    }
    return found.sort((one, other) => other.score - one.score);
  }

  /** How many of the words each document has. */
  #sharesOf(words: readonly QueryWord[]): Float64Array {
    const shares = new Float64Array(this.#scores.length);
    const lastWord = new Uint16Array(this.#scores.length);
    for (const [index, { term, ideas }] of words.entries())
      for (const each of [term, ...ideas])
        for (const document of this.#byTerm.get(each) ?? []) {
          if (lastWord[document] === index + 1) continue;
          lastWord[document] = index + 1;
          shares[document] = (shares[document] ?? 0) + (each === term ? 1 : ideaShare);
        }
    return shares;
  }
}

interface QueryWord {
  term: string;
  ideas: readonly string[];
}

/** Each once: a word that is said twice is meant once. */
function wordsOfQuery(query: string): QueryWord[] {
  const words = searchWordsOf(query);
  const telling = words.filter((word) => !isCommon(word));
  const stems = (telling.length > 0 ? telling : words).map(stemOf);
  // `read_text_file`, `readTextFile`, `files.read_text_file`: names as code has them.
  const names = query.split(/\s+/).filter((part) => /[\p{L}\p{N}][-_./:]+[\p{L}\p{N}]|\p{Ll}\p{Lu}/u.test(part));
  const whole = names.flatMap((name) => [foldName(name), foldName(name.split(/\.|__/).at(-1) ?? '')]);
  const terms = [...new Set([...whole, ...stems])].filter((term) => term !== '').slice(0, maxWords);
  return terms.map((term) => ({ term, ideas: ideasOf(term) }));
}
