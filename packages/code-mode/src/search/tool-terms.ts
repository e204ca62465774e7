import type { Tool } from '@notebridge/protocol/core/mcp';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { appendAll } from '@notebridge/protocol/util/long-lists';
import type { SavedSkill } from '../skills/saved-skills.js';
import { foldName } from './one-line.js';
import { ideasOf, isCommon, searchWordsOf, stemOf } from './words.js';

/** What a search looks at, by the place where it stands. */
export interface SearchedTexts {
  name: string;
  server: string;
  title: string;
  description: string;
  arguments?: string;
  /** What is said of the arguments, and the values that they take. */
  details?: string;
}

/** The texts by their words, and the name in one piece, too. */
export const searchedFields = ['name', 'whole', 'server', 'title', 'description', 'arguments', 'details'] as const;

/** What is looked at of one tool: more of it says no more, and servers may send any amount. Characters. */
const maxDescription = 4000;
const maxDetails = 6000;
const maxName = 200;
const maxArguments = 100;
const maxDepth = 2;

/** What a document is found by, in the order of `searchedFields`: the terms of each, once, and how often they stand there. */
export type SearchedTerms = readonly { terms: readonly string[]; counts: readonly number[] }[];

/** To cut texts into words takes longer than anything else, so that it is done once for each tool of a list. */
const known = new WeakMap<Tool, { server: string; terms: SearchedTerms }>();

export function termsOfTool(server: string, tool: Tool): SearchedTerms {
  const before = known.get(tool);
  if (before?.server === server) return before.terms;
  const terms = termsOfTexts(textsOfTool(server, tool));
  known.set(tool, { server, terms });
  return terms;
}

export function termsOfSkill({ name, description, tags }: SavedSkill): SearchedTerms {
  return termsOfTexts({
    name: name.slice(0, maxName),
    server: 'skill',
    title: tags.join(' ').slice(0, maxName),
    description: description.slice(0, maxDescription),
  });
}

export function termsOfTexts(texts: SearchedTexts): SearchedTerms {
  return searchedFields.map((field) => {
    const counts = new Map<string, number>();
    for (const term of termsOfField(texts, field)) counts.set(term, (counts.get(term) ?? 0) + 1);
    return { terms: [...counts.keys()], counts: [...counts.values()] };
  });
}

function termsOfField(texts: SearchedTexts, field: (typeof searchedFields)[number]): string[] {
  if (field === 'whole') return [foldName(texts.name)].filter((whole) => whole !== '');
  const words = searchWordsOf(texts[field] ?? '').filter((word) => !isCommon(word));
  // `mind_map` is `mindmap` to some.
  const pairs = field === 'name' ? words.slice(1).map((word, at) => `${words[at]}${word}`) : [];
  const terms = words.flatMap((word) => {
    const stem = stemOf(word);
    return [stem, ...ideasOf(stem)];
  });
  return [...terms, ...pairs];
}

function textsOfTool(server: string, tool: Tool): SearchedTexts {
  const args: string[] = [];
  const details: string[] = [];
  collectArguments(tool.inputSchema, { args, details }, 0);
  const title = textOf(tool.title) || textOf(isJsonObject(tool.annotations) ? tool.annotations.title : '');
  return {
    name: tool.name.slice(0, maxName),
    server: server.slice(0, maxName),
    title: title.slice(0, maxName),
    description: textOf(tool.description).slice(0, maxDescription),
    arguments: args.join(' '),
    details: details.join(' ').slice(0, maxDetails),
  };
}

/** The arguments that a person would name: those of the tool, and those inside of its objects and lists. */
function collectArguments(schema: unknown, into: { args: string[]; details: string[] }, depth: number): void {
  if (!isJsonObject(schema) || !isJsonObject(schema.properties)) return;
  for (const [name, about] of Object.entries(schema.properties)) {
    if (into.args.length >= maxArguments) return;
    into.args.push(name.slice(0, maxName));
    if (!isJsonObject(about)) continue;
    appendAll(into.details, [textOf(about.description).slice(0, 500), ...valuesOf(about)]);
    if (depth < maxDepth) collectArguments(isJsonObject(about.items) ? about.items : about, into, depth + 1);
  }
}

function valuesOf(schema: JsonObject): string[] {
  const values = Array.isArray(schema.enum) ? schema.enum.slice(0, 30) : [];
  return values.filter((value) => typeof value === 'string').map((value) => value.slice(0, 60));
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
