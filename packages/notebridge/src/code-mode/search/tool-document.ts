import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { appendAll } from '@notebridge/kit/long-lists';
import type { Tool } from '../../core/mcp.js';
import type { SavedSkill } from '../../skills/saved-skills.js';

/** What a search looks at, by the place where it stands. */
export interface SearchedTexts {
  /** The words of the tool's name. */
  name: string;
  /** The name in one piece. */
  whole: string;
  server: string;
  title: string;
  description: string;
  arguments: string;
  /** What is said of the arguments, and the values that they take. */
  details: string;
}

export const searchedFields = ['name', 'whole', 'server', 'title', 'description', 'arguments', 'details'] as const;

/** What is looked at of one tool: more of it says no more, and servers may send any amount. Characters. */
const maxDescription = 4000;
const maxDetails = 6000;
const maxName = 200;
const maxArguments = 100;
const maxDepth = 2;

export function textsOfTool(server: string, tool: Tool): SearchedTexts {
  const args: string[] = [];
  const details: string[] = [];
  collectArguments(tool.inputSchema, { args, details }, 0);
  const title = textOf(tool.title) || textOf(isJsonObject(tool.annotations) ? tool.annotations.title : '');
  return {
    name: tool.name.slice(0, maxName),
    whole: foldName(tool.name.slice(0, maxName)),
    server: server.slice(0, maxName),
    title: title.slice(0, maxName),
    description: textOf(tool.description).slice(0, maxDescription),
    arguments: args.join(' '),
    details: details.join(' ').slice(0, maxDetails),
  };
}

export function textsOfSkill({ name, description, tags }: SavedSkill): SearchedTexts {
  return {
    name: name.slice(0, maxName),
    whole: foldName(name.slice(0, maxName)),
    server: 'skill',
    title: tags.join(' ').slice(0, maxName),
    description: description.slice(0, maxDescription),
    arguments: '',
    details: '',
  };
}

/** A name without what separates its words, so that all spellings of it are one. */
export function foldName(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
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
