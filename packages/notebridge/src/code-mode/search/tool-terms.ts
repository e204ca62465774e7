import type { Tool } from '../../core/mcp.js';
import type { SavedSkill } from '../../skills/saved-skills.js';
import { type SearchedTexts, searchedFields, textsOfSkill, textsOfTool } from './tool-document.js';
import { ideasOf, isCommon, searchWordsOf, stemOf } from './words.js';

/** The terms of one field, each once. */
interface FieldTerms {
  terms: readonly string[];
  /** How often each stands there. */
  counts: readonly number[];
}

/** Documents that were found by terms, in the order of `searchedFields`. */
export type SearchedTerms = readonly FieldTerms[];

/** To cut texts into words takes longer than anything else, so that it is done once for each tool of a list. */
const known = new WeakMap<Tool, { server: string; terms: SearchedTerms }>();

export function termsOfTool(server: string, tool: Tool): SearchedTerms {
  const before = known.get(tool);
  if (before?.server === server) return before.terms;
  const terms = termsOfTexts(textsOfTool(server, tool));
  known.set(tool, { server, terms });
  return terms;
}

export function termsOfSkill(skill: SavedSkill): SearchedTerms {
  return termsOfTexts(textsOfSkill(skill));
}

export function termsOfTexts(texts: SearchedTexts): SearchedTerms {
  return searchedFields.map((field) => {
    const counts = new Map<string, number>();
    for (const term of termsOfField(texts, field)) counts.set(term, (counts.get(term) ?? 0) + 1);
    return { terms: [...counts.keys()], counts: [...counts.values()] };
  });
}

function termsOfField(texts: SearchedTexts, field: keyof SearchedTexts): string[] {
  if (field === 'whole') return texts.whole === '' ? [] : [texts.whole];
  const words = searchWordsOf(texts[field]).filter((word) => !isCommon(word));
  // `mind_map` is `mindmap` to some.
  const pairs = field === 'name' ? words.slice(1).map((word, at) => `${words[at]}${word}`) : [];
  const terms = words.flatMap((word) => {
    const stem = stemOf(word);
    return [stem, ...ideasOf(stem)];
  });
  return [...terms, ...pairs];
}
