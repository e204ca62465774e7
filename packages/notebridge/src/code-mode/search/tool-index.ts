import MiniSearch from 'minisearch';
import { foldName, type SearchedTexts, searchedFields } from './tool-document.js';
import { ideasOf, isCommon, isIdea, stemOf, wordsOf } from './words.js';

interface Document extends SearchedTexts {
  id: number;
}

export interface Scored {
  id: number;
  score: number;
}

/** How much a word counts by where it is found. */
const boost = { name: 4, whole: 12, server: 2, title: 2.5, description: 1.5, arguments: 1, details: 0.4 };
/** What another word for the same idea counts, beside the word itself. */
const ideaWeight = 0.4;
/** Words that are shorter are not looked for by their beginning, nor with a slip. */
const minPrefix = 4;
const minFuzzy = 5;
/** So many words of a question are looked for. */
const maxTerms = 40;

/** Finds texts by words: by their stems, by other words for the same, by their beginnings, and with a letter that is wrong. */
export class ToolIndex {
  #search = this.#open();
  readonly #documents = new Map<number, Document>();
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
    // What was taken out still counts as a word's place; rebuilding costs no more than what it follows.
    if (this.#removed > 100 && this.#removed > this.#documents.size) this.#rebuild();
  }

  /** What is found, best first. `mayFind` is asked for each. */
  find(query: string, mayFind: (id: number) => boolean): Scored[] {
    const terms = termsOfQuery(query).slice(0, maxTerms);
    if (terms.length === 0) return [];
    const found = this.#search.search(terms.join(' '), {
      tokenize: (text) => text.split(' '),
      processTerm: (term) => term,
      boost,
      boostTerm: (term) => (isIdea(term) ? ideaWeight : 1),
      prefix: (term) => !isIdea(term) && term.length >= minPrefix,
      fuzzy: (term) => (!isIdea(term) && term.length >= minFuzzy ? 1 : false),
      weights: { prefix: 0.3, fuzzy: 0.2 },
      bm25: { k: 1.2, b: 0.5, d: 0.3 },
      filter: ({ id }) => mayFind(id as number),
    });
    return found.map(({ id, score }) => ({ id: id as number, score }));
  }

  #rebuild(): void {
    this.#removed = 0;
    this.#search = this.#open();
    this.#search.addAll([...this.#documents.values()]);
  }

  #open(): MiniSearch<Document> {
    return new MiniSearch<Document>({
      fields: [...searchedFields],
      tokenize: (text) => text.split(' '),
      processTerm: (term) => term,
      // Terms, and no text: a field is cut into words here, each by its own rule.
      extractField: (document, field) => (field === 'id' ? document.id : termsOfField(document, field as keyof SearchedTexts)) as string,
      // It would wait in a timer; see `remove`.
      autoVacuum: false,
      logger: () => {},
    });
  }
}

function termsOfField(document: SearchedTexts, field: keyof SearchedTexts): string {
  if (field === 'whole') return document.whole;
  return wordsOf(document[field])
    .filter((word) => !isCommon(word))
    .flatMap((word) => {
      const stem = stemOf(word);
      return [stem, ...ideasOf(stem)];
    })
    .join(' ');
}

/** Each once: a word that is said twice is meant once. */
function termsOfQuery(query: string): string[] {
  const words = wordsOf(query);
  const telling = words.filter((word) => !isCommon(word));
  const stems = (telling.length > 0 ? telling : words).map(stemOf);
  // `read_text_file`, `readTextFile`, `files.read_text_file`: names as code has them.
  const names = query.split(/\s+/).filter((part) => /[\p{L}\p{N}][-_./:]+[\p{L}\p{N}]|\p{Ll}\p{Lu}/u.test(part));
  const whole = names.flatMap((name) => [foldName(name), foldName(name.split(/\.|__/).at(-1) ?? '')]);
  return [...new Set([...whole, ...stems, ...stems.flatMap(ideasOf)])].filter((term) => term !== '');
}
