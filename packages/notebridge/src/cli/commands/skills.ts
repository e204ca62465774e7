import { hashOfFiles, idOf, SavedSkillStore, type SkillRecord } from '@notebridge/code-mode/saved-skills/saved-skill-store';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { writeOutHidden } from '@notebridge/protocol/util/hidden-characters';
import { quote } from '@notebridge/protocol/util/quote';
import { stateDir } from '@notebridge/system/processes/state-dir';
import type { Command } from 'commander';
import { sharedOptions } from '../command-options.js';
import { addSubcommand, type DefinedCommand, defineCommand } from '../define-command.js';
import { asTyped } from '../own-command.js';
import { printJsonLine, printTable } from '../terminal.js';
import { onOneLine } from '../terminal-logger.js';

/** `notebridge skills`: what code of agents has saved, and whether others may run it. */
export function skillsCommand(command: Command): void {
  const typed = [sharedOptions.json];
  const skill = 'its name, or its id if several have that name';
  defineCommand({ typed, run: listSkills })(command);
  const add = (name: string, description: string, define: DefinedCommand) => addSubcommand(command, name, description, define);
  const ofList = defineCommand({ typed, run: (_, self) => listSkills(self.optsWithGlobals()) });
  add('list', 'whose they are, and which everyone may run', ofList);
  add(
    'show',
    'its instructions, code and tests, and how to trust exactly these',
    defineCommand({ arguments: [['<skill>', skill]], run: showSkill }),
  );
  add(
    'trust',
    'let every agent see and run it, each with its own rights, until it is saved anew',
    defineCommand({
      arguments: [['<skill@version>', 'as the last line of `skills show` has it']],
      run: (named) => trustSkill(named, true),
    }),
  );
  add(
    'distrust',
    'leave it to its saver alone',
    defineCommand({ arguments: [['<skill>', skill]], run: (named) => trustSkill(named, false) }),
  );
  add('delete', 'delete skills', defineCommand({ arguments: [['<skill...>', 'names, or ids']], run: deleteSkills }));
}

/** Prints all of them, whoever has saved them. */
async function listSkills({ json = false }: { json?: boolean }): Promise<void> {
  const all = openStore().all();
  if (json) return printJsonLine({ skills: all.map(toPrinted) });
  if (all.length === 0)
    return void process.stdout.write(asTyped('No skill is saved. Code of an agent in code mode saves one: notebridge serve --code-mode\n'));
  const rows = all.map((record) => [
    idOf(record),
    record.saver,
    record.trusted ? 'all' : 'its saver',
    record.hasTests ? 'yes' : 'no',
    onOneLine(record.description),
  ]);
  printTable(['SKILL', 'SAVED BY', 'FOR', 'TESTS', 'DESCRIPTION'], rows);
}

/** Prints what stands in its files, and how exactly that is trusted. Rejects with `skill_changed` if it is saved anew just now. */
async function showSkill(named: string): Promise<void> {
  const store = openStore();
  const record = findSkill(store, named);
  const files = await store.open(record);
  if (hashOfFiles(record.name, files) !== record.hash) throw savedAnew(record);
  const { document, tests } = files;
  const text = `${document}${tests === '' ? '' : `\n## Tests\n\n${tests}\n`}`;
  // What an agent has written neither steers the terminal, nor hides there, nor passes for what we say.
  const lines = text.replace(/\n+$/, '').split('\n').map(toShownLine);
  const trust = asTyped(`To let all agents run exactly this: notebridge skills trust ${idOf(record)}@${record.hash}`);
  process.stdout.write(`${lines.join('\n')}\n\n${trust}\n`);
}

/**
 * Lets everyone run it, or its saver alone. What is trusted is named with its version: what was saved meanwhile nobody has read. Rejects
 * with `bad_usage` where the name means none or several, or has no version, with `skill_changed`, and as the store does.
 */
async function trustSkill(named: string, trusted: boolean): Promise<void> {
  const store = openStore();
  const [name = '', version] = named.split('@');
  const record = findSkill(store, name);
  if (trusted && version === undefined)
    throw new BridgeError('bad_usage', `Read it first: notebridge skills show ${idOf(record)}. Its last line is how that is trusted.`);
  if (trusted && version !== record.hash) throw savedAnew(record);
  await store.trust(record, trusted);
  process.stdout.write(
    trusted ? `${idOf(record)} is for all agents now, each with its own rights.\n` : `${idOf(record)} is for its saver alone now.\n`,
  );
}

/** Deletes them. Rejects with `bad_usage` where a name means none or several; then none is deleted. */
async function deleteSkills(names: readonly string[]): Promise<void> {
  const store = openStore();
  for (const record of names.map((named) => findSkill(store, named))) {
    await store.remove(record);
    process.stdout.write(`Deleted ${idOf(record)}.\n`);
  }
}

function savedAnew(record: SkillRecord): BridgeError {
  return new BridgeError(
    'skill_changed',
    `"${idOf(record)}" was saved anew since you have read it. Read it again: notebridge skills show ${idOf(record)}`,
  );
}

/** A line of a skill, with a mark that no line of ours has. */
function toShownLine(line: string): string {
  return `| ${line.split('\t').map(writeOutHidden).join('\t')}`.trimEnd();
}

function openStore(): SavedSkillStore {
  return new SavedSkillStore({ stateDir: stateDir() });
}

function findSkill(store: SavedSkillStore, named: string): SkillRecord {
  const found = store.all().filter((record) => record.name === named || idOf(record) === named);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (only === undefined)
    throw new BridgeError('bad_usage', `There is no saved skill ${quote(named)}. See them with: notebridge skills list`);
  throw new BridgeError(
    'bad_usage',
    `Several savers have a skill ${quote(named)}. Name one of them by its id: ${found.map(idOf).join(', ')}.`,
  );
}

function toPrinted(record: SkillRecord) {
  const { saver, name, hash, description, tags, savedAt, hasTests, trusted } = record;
  return { id: idOf(record), version: hash, name, saver, description, tags, saved_at: savedAt, tested: hasTests, trusted };
}
