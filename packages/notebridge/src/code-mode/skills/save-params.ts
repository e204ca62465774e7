import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { savingTools } from '../../skills/skill-tools.js';
import { withoutHidden } from '../../util/hidden-characters.js';
import { quote } from '../../util/quote.js';
import { flagOf, readArguments, textOf, wrongArgument } from '../read-arguments.js';
import { skillName } from './saved-skill-store.js';

export type SaveParams = ReturnType<typeof parseSave>;

const maxDescription = 1024;
const maxCode = 200_000;
const maxParameters = 20_000;
const [mostTags, maxTag] = [20, 64];

const [save, remove] = savingTools;

/** Throws `invalid_arguments` that names the argument. */
export function parseSave(args: unknown) {
  const given = readArguments(args, save.inputSchema);
  const description = withoutHidden(needed(given, 'description', maxDescription));
  if (description === '') throw wrongArgument('"description" is missing.');
  const parameters = given.parameters ?? undefined;
  if (parameters !== undefined && !isJsonObject(parameters))
    throw wrongArgument(`"parameters" must be an object, found ${quote(parameters)}.`);
  if (parameters !== undefined && JSON.stringify(parameters).length > maxParameters)
    throw wrongArgument(`"parameters" has more than ${maxParameters} characters.`);
  return {
    name: parseName(given, 'name'),
    description,
    code: toLines(needed(given, 'code', maxCode)),
    tags: parseTags(given.tags ?? undefined),
    parameters,
    tests: toLines(bounded(given, 'tests', maxCode) ?? ''),
    overwrite: flagOf(given, 'overwrite'),
  };
}

/** The name of the skill that is to be deleted. Throws `invalid_arguments` that names the argument. */
export function parseRemove(args: unknown): string {
  return parseName(readArguments(args, remove.inputSchema), 'skill_name');
}

/** The name of a skill: a part of a path. */
function parseName(given: JsonObject, key: string): string {
  const name = textOf(given, key);
  if (name !== undefined && skillName.test(name)) return name;
  throw wrongArgument(`"${key}" must be of 1 to 64 letters, digits, "-" and "_", found ${quote(given[key])}.`);
}

function needed(given: JsonObject, key: string, most: number): string {
  const text = bounded(given, key, most);
  if (text !== undefined && text.trim() !== '') return text;
  throw wrongArgument(`"${key}" is missing.`);
}

function bounded(given: JsonObject, key: string, most: number): string | undefined {
  const text = textOf(given, key);
  if (text === undefined || text.length <= most) return text;
  throw wrongArgument(`"${key}" has ${text.length} characters; at most ${most} are kept.`);
}

/** Lines as Python reads them: one that ends by a carriage return alone would be shown as the end of the line before. */
function toLines(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n');
}

function parseTags(tags: unknown): string[] {
  if (tags === undefined) return [];
  const isList =
    Array.isArray(tags) && tags.length <= mostTags && tags.every((tag) => typeof tag === 'string' && /^[^\p{Cc}]{1,64}$/u.test(tag));
  if (isList) return [...new Set((tags as string[]).map(withoutHidden))].filter((tag) => tag !== '');
  throw wrongArgument(`"tags" must be a list of at most ${mostTags} texts of at most ${maxTag} characters, found ${quote(tags)}.`);
}
