import { stemmer } from 'stemmer';
import { synonyms } from './synonyms.js';

/** Words that say nothing of a tool, wherever they stand. */
const common = new Set(
  (
    'a an the and or but nor so if then than as at by for from in into of on onto to up with within without via per is are was were be been ' +
    'being am do does did doing have has had having can could shall should will would may might must i me my mine we us our ours you your ' +
    'yours he him his she her it its they them their this that these those there here what please just want need like let how am not no ' +
    'some any every each only also too very really s t d m re ve ll ' +
    'again already still now currently thing things stuff something anything somewhere because about sure give way actually'
  ).split(' '),
);

/** No word of a person is longer. */
const maxWord = 40;

/**
 * The words of a text, in lower case: split where no letter or digit stands, and inside of `camelCase`. Of other alphabets a run of
 * letters is a word.
 */
export function searchWordsOf(text: string): string[] {
  const humps = text.replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2').replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2');
  const words =
    humps
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.map((word) => word.slice(0, maxWord));
}

export function isCommon(word: string): boolean {
  return common.has(word);
}

const stems = new Map<string, string>();
const maxStems = 50_000;

/** `deleting` and `deleted` become the same; so do words that are no English, each by itself. */
export function stemOf(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  const stem = /^[a-z]+$/.test(word) && word.length > 2 ? stemmer(word) : word;
  if (stems.size >= maxStems) stems.clear();
  stems.set(word, stem);
  return stem;
}

/** Before the number of an idea, so that it is no word. */
const mark = '~';

const ideas = toIdeas();

/** The ideas that a word may stand for, as terms of the index. */
export function ideasOf(stem: string): readonly string[] {
  return ideas.get(stem) ?? [];
}

export function isIdea(term: string): boolean {
  return term.startsWith(mark);
}

function toIdeas(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [number, line] of synonyms.entries()) {
    for (const stem of new Set(line.split(' ').map(stemOf))) found.set(stem, [...(found.get(stem) ?? []), `${mark}${number}`]);
  }
  return found;
}
