import MiniSearch from 'minisearch';
import { foldName, type SearchedTexts, searchedFields } from './tool-document.js';
import { ideasOf, isCommon, isIdea, searchWordsOf, stemOf } from './words.js';

interface Document extends SearchedTexts {
  id: number;
}

export interface Scored {
  id: number;
  score: number;
}

/** How much a word counts by where it is found. */
const boost = { name: 1.2, whole: 6, server: 2, title: 0.8, description: 3, arguments: 0.5, details: 0.15 };
/** What another word for the same idea counts, beside the word itself. */
const ideaWeight = 0.5;
/** What the beginning of a word counts, and a word with a slip. */
const weights = { prefix: 0.3, fuzzy: 0.2 };
const bm25 = { k: 1.2, b: 0.5, d: 0.3 };
/** What a word counts of which only the idea is found, where it counts how many of the words are found. */
const ideaShare = 0.8;
/** Words that are shorter are not looked for by their beginning, nor with a slip. */
const minLength = 4;
/** Words of this length may have two slips, as two letters are that are swapped. */
const minLengthOfTwo = 6;
/** Of fewer that were removed, the index is not made anew. */
const minRemoved = 100;
/** So many words of a query are looked for. */
const maxWords = 30;

/** Finds texts by words: by their stems, by other words for the same, by their beginnings, and with a letter that is wrong. */
export class ToolIndex {
  readonly #documents = new Map<number, Document>();
  /** All terms of the index, and some that were in it. */
  #known = new Set<string>();
  #search = openSearch(this.#known);
  #removed = 0;
  #lastId = 0;

  get size(): number {
    return this.#documents.size;
  }

  /** Returns the id of what was added. */
  add(texts: SearchedTexts): number {
    const document = { id: ++this.#lastId, ...texts };
    this.#documents.set(document.id, document);
    this.#search.add(document);
    return document.id;
  }

  remove(id: number): void {
    if (!this.#documents.delete(id)) return;
    this.#search.discard(id);
    this.#removed++;
  }

  /** Gives back what removed texts still take, if that is more than the others do. Nothing may be added or removed meanwhile. */
  async compact(): Promise<void> {
    if (this.#removed < minRemoved || this.#removed < this.#documents.size) return;
    const known = new Set<string>();
    const search = openSearch(known);
    await search.addAllAsync([...this.#documents.values()], { chunkSize: 25 });
    this.#search = search;
    this.#known = known;
    this.#removed = 0;
  }

  /** What is found, best first. `mayFind` is asked for each. */
  find(query: string, mayFind: (id: number) => boolean): Scored[] {
    const words = wordsOfQuery(query);
    const terms = [...new Set(words.flatMap(({ term, ideas }) => [term, ...ideas]))];
    if (terms.length === 0) return [];
    const found = this.#search.search(terms.join(' '), {
      tokenize: (text) => text.split(' '),
      processTerm: (term) => term,
      boost,
      boostTerm: (term) => (isIdea(term) ? ideaWeight : 1),
      prefix: (term) => !isIdea(term) && term.length >= minLength,
      fuzzy: (term) => (isIdea(term) ? 0 : this.#slipsIn(term)),
      weights,
      bm25,
      filter: ({ id }) => mayFind(id as number),
    });
    const scored = found.map(({ id, score, queryTerms }) => ({ id: id as number, score: score * shareOf(words, queryTerms) }));
    return scored.sort((one, other) => other.score - one.score);
  }

  /** A word that stands somewhere is meant as it is. */
  #slipsIn(term: string): number {
    if (term.length < minLength || this.#known.has(term)) return 0;
    return term.length < minLengthOfTwo ? 1 : 2;
  }
}

/** @param known Takes every term that is added. */
function openSearch(known: Set<string>): MiniSearch<Document> {
  return new MiniSearch<Document>({
    fields: [...searchedFields],
    tokenize: (text) => text.split(' '),
    processTerm: (term) => {
      known.add(term);
      return term;
    },
    // Terms, and no text: a field is cut into words here, each by its own rule.
    extractField: (document, field) => (field === 'id' ? document.id : termsOfField(document, field as keyof SearchedTexts)) as string,
    // It would wait in a timer; see `compact`.
    autoVacuum: false,
    logger: () => {},
  });
}

function termsOfField(document: SearchedTexts, field: keyof SearchedTexts): string {
  if (field === 'whole') return document.whole;
  const words = searchWordsOf(document[field]).filter((word) => !isCommon(word));
  // `mind_map` is `mindmap` to some.
  const pairs = field === 'name' ? words.slice(1).map((word, at) => `${words[at]}${word}`) : [];
  const terms = words.flatMap((word) => {
    const stem = stemOf(word);
    return [stem, ...ideasOf(stem)];
  });
  return [...terms, ...pairs].join(' ');
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

/** The share of the words that were found, from 0 to 1. */
function shareOf(words: readonly QueryWord[], found: readonly string[]): number {
  const isFound = new Set(found);
  let sum = 0;
  for (const { term, ideas } of words)
    if (isFound.has(term)) sum++;
    else if (ideas.some((idea) => isFound.has(idea))) sum += ideaShare;
  return sum / words.length;
}
