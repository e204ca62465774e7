import type { CallContext } from '@notebridge/protocol/core/call-context';
import { BridgeError, type ErrorCode } from '@notebridge/protocol/core/errors';
import { withFailedResults } from '@notebridge/protocol/core/mcp';
import { owner, principalKey } from '@notebridge/protocol/core/principal';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { foldSkillName } from '@notebridge/protocol/util/fold-skill-name';
import { withoutHidden } from '@notebridge/protocol/util/hidden-characters';
import { largestOf } from '@notebridge/protocol/util/long-lists';
import { quote } from '@notebridge/protocol/util/quote';
import { Slots } from '@notebridge/protocol/util/slots';
import { toCodeResult } from '../execution/answer.js';
import type { CodeExecutor, TestRun } from '../execution/code-executor.js';
import type { Running, RunningCode } from '../execution/nested-calls.js';
import { flagOf, readArguments, textOf, wrongArgument } from '../search/read-arguments.js';
import type { SavedSkillShelf } from '../skills/saved-skills.js';
import { savingTools, toObjectResult } from '../skills/skill-tools.js';
import { type SavedSkillStore, type SkillRecord, skillName } from './saved-skill-store.js';

export interface SkillShelfOptions {
  store: SavedSkillStore;
  running: RunningCode;
  executor: Pick<CodeExecutor, 'runTest'>;
}

const maxDescription = 1024;
const maxCode = 200_000;
const maxParameters = 20_000;
const [mostTags, maxTag] = [20, 64];
/** Characters of what a failed test says. */
const maxReport = 6000;
/** Few tests at a time: each takes a Python that others may want. */
const mostTests = 2;

/** What the code of an execution does with saved skills: in the name of its agent, and of nobody else. */
export function createSkillShelf({ store, running, executor }: SkillShelfOptions): SavedSkillShelf {
  const testing = new Slots(mostTests);

  /** The code that has made a call; undefined for a call that none of it has made. */
  const find = ({ caller }: CallContext): Running | undefined => running.get(principalKey(caller.principal ?? owner));
  const assertRunning = (context: CallContext): Running => {
    const found = find(context);
    if (found === undefined) throw onlyCode();
    if (found.isTest) throw new BridgeError('denied', 'The tests of a skill save and delete no skills.');
    return found;
  };
  return {
    seenBy: (context) => {
      const found = find(context);
      return found === undefined ? [] : store.seenBy(found.caller);
    },
    open: (skill) => store.open(skill as SkillRecord),
    save: (args, context, taken) =>
      withFailedResults(readable, async () => {
        const { caller, count } = assertRunning(context);
        const params = parseSave(args);
        const terms = { saver: principalKey(caller), overwrites: params.overwrite };
        if (taken.some((name) => foldSkillName(name) === foldSkillName(params.name)))
          throw new BridgeError('skill_exists', `There is a skill ${quote(params.name)} in a folder of the config. Take another name.`);
        store.assertFree(params.name, terms);
        await testing.run(() => test(params, { principal: caller, count }, context, executor));
        const { name, description, tags, code, tests } = params;
        await store.save({ name, description, tags, ...terms, files: { document: writeDocument(params), code, tests } });
        return toObjectResult({ name, tested: tests !== '' });
      }),
    remove: (args, context) =>
      withFailedResults(readable, async () => {
        const saver = principalKey(assertRunning(context).caller);
        const name = parseRemove(args);
        return toObjectResult({ name, deleted: await store.remove({ saver, name }) });
      }),
  };
}

async function test(
  { name, code, tests }: SaveParams,
  as: Pick<TestRun, 'principal' | 'count'>,
  { parent, signal }: CallContext,
  executor: Pick<CodeExecutor, 'runTest'>,
): Promise<void> {
  if (signal.aborted) throw new BridgeError('cancelled', 'The code that saves the skill has ended.');
  if (parent === undefined) throw onlyCode();
  const given = [name, code, tests].map((text) => JSON.stringify(text)).join(', ');
  const outcome = await executor.runTest(`from generated.skills._saved import check\nawait check(${given})`, { ...as, parent, signal });
  if (outcome.status === 'ok') return;
  const { content = [] } = await toCodeResult(outcome);
  const report = content.flatMap(({ type, text }) => (type === 'text' ? [String(text)] : [])).join('\n');
  throw new BridgeError(
    'skill_failed',
    `The skill ${quote(name)} was not saved: its tests failed (${outcome.status}).\n${report.slice(0, maxReport)}`,
  );
}

function onlyCode(): BridgeError {
  return new BridgeError('denied', 'Skills are saved and deleted by code of execute_code alone, in a Python of its own.');
}

/** What the code reads in place of a result: all but that nobody waits for it. */
const readable = { has: (code: ErrorCode): boolean => code !== 'cancelled' };

/** The SKILL.md: what a model reads of the skill, in the form that other programs for skills read too. */
function writeDocument({ name, description, code, tags, parameters }: Omit<SaveParams, 'tests' | 'overwrite'>): string {
  // A JSON text is one of YAML.
  const head = [
    '---',
    `name: ${JSON.stringify(name)}`,
    `description: ${JSON.stringify(description)}`,
    ...(tags.length === 0 ? [] : ['metadata:', `  tags: ${JSON.stringify(tags.join(', '))}`]),
    '---',
  ];
  const call = `from generated.skills import run_skill\ndone = await run_skill(${JSON.stringify(name)}, kwargs={…})\ndone["result"]`;
  const about = 'The `kwargs` are variables of its code, and the value of its last expression is its `result`.';
  const given = parameters === undefined ? [] : ['## Parameters', fenced(JSON.stringify(parameters, null, 2), 'json')];
  const parts = [head.join('\n'), `# ${name}`, description, fenced(call, 'python'), about, ...given, '## Code', fenced(code, 'python')];
  return `${parts.join('\n\n')}\n`;
}

/** With a fence that is longer than any inside. */
function fenced(text: string, language: string): string {
  const longest = largestOf(
    (text.match(/`{3,}/g) ?? []).map(({ length }) => length),
    2,
  );
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`;
}

type SaveParams = ReturnType<typeof parseSave>;

/** Throws `invalid_arguments` that names the argument. */
function parseSave(args: unknown) {
  const given = readArguments(args, savingTools[0].inputSchema);
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
function parseRemove(args: unknown): string {
  return parseName(readArguments(args, savingTools[1].inputSchema), 'skill_name');
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
