import type { Tool } from '@notebridge/protocol/core/mcp';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { SavedSkill } from '../skills/saved-skills.js';
import type { SeenServer } from './known-tools.js';
import { firstSentence, shownName } from './one-line.js';
import type { SearchParams } from './search-params.js';

export type Entry = { kind: 'tool'; server: string; tool: Tool } | { kind: 'skill'; skill: SavedSkill };

export interface FoundEntry {
  entry: Entry;
  /** Beside that of the best one, which is 1. Left out: nothing was searched for. */
  score?: number | undefined;
}

const maxShownArguments = 8;

/** `github.create_issue(owner, repo, title, body?) – Create a new issue  [0.93]` */
export function lineOf({ entry, score }: FoundEntry, detail: SearchParams['detail']): string {
  const name = entryName(entry);
  const end = score === undefined ? '' : `  [${score.toFixed(2)}]`;
  // Of `full` the signature says the rest.
  if (detail !== 'line') return `${name}${end}`;
  const text = firstSentence(entry.kind === 'tool' ? aboutOf(entry.tool) : entry.skill.description);
  const args = entry.kind === 'tool' ? `(${argumentsOf(entry.tool)})` : '';
  return `${name}${args}${text === '' ? '' : ` – ${text}`}${end}`;
}

function entryName(entry: Entry): string {
  return entry.kind === 'tool' ? `${shownName(entry.server)}.${shownName(entry.tool.name)}` : `skill ${shownName(entry.skill.name)}`;
}

/** The same for programs. */
export function recordOf({ entry, score }: FoundEntry): JsonObject {
  const scored = score === undefined ? {} : { score: Number(score.toFixed(3)) };
  if (entry.kind === 'skill') return { skill: entry.skill.name, description: firstSentence(entry.skill.description), ...scored };
  const { server, tool } = entry;
  const readOnly = isReadOnly(tool) ? { read_only: true } : {};
  return { server, tool: tool.name, description: firstSentence(aboutOf(tool)), ...readOnly, ...scored };
}

export function lineOfServer({ name, description, tools, reason }: SeenServer): string {
  const count = reason === undefined ? `${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}` : `not listed: ${firstSentence(reason)}`;
  const about = firstSentence(description);
  return `${shownName(name)} (${count})${about === '' ? '' : ` – ${about}`}`;
}

export function isReadOnly({ annotations }: Tool): boolean {
  return isJsonObject(annotations) && annotations.readOnlyHint === true;
}

function aboutOf({ description, title, annotations }: Tool): unknown {
  return description ?? title ?? (isJsonObject(annotations) ? annotations.title : undefined);
}

/** Required ones first, the others with a question mark. */
function argumentsOf({ inputSchema }: Tool): string {
  if (!isJsonObject(inputSchema) || !isJsonObject(inputSchema.properties)) return '';
  const required = new Set(Array.isArray(inputSchema.required) ? inputSchema.required : []);
  const names = Object.keys(inputSchema.properties);
  const sorted = [...names.filter((name) => required.has(name)), ...names.filter((name) => !required.has(name))];
  const shown = sorted.slice(0, maxShownArguments).map((name) => `${shownName(name.slice(0, 60))}${required.has(name) ? '' : '?'}`);
  return [...shown, ...(sorted.length > shown.length ? ['…'] : [])].join(', ');
}
