import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { shellWord } from '@notebridge/system/starts/shell-word';
import type { Command } from 'commander';
import { sharedOptions } from '../command-options.js';
import { defineCommand, option } from '../define-command.js';
import { asTyped } from '../own-command.js';
import { type ConfigPlace, hosts } from '../setup/hosts.js';
import { type SetupReport, setup } from '../setup/setup.js';

/** What the command sees of the process that it runs in. */
export interface SetupTerminal extends ConfigPlace {
  print(text: string): void;
}

const typed = [
  option(
    '--notebook <where>',
    'what its agents work in: an .ipynb file (written as a whole path), "jupyter[=ADDRESS]", "local" or "colab"',
  ),
  option(
    '--kernel <which>',
    'what runs the code of that file: see "notebridge kernels"; a path is written whole, and needs ipykernel in it',
  ),
  sharedOptions.files,
  sharedOptions.allowNet,
  sharedOptions.codeMode,
  option('--url [address]', 'connect to a hub that serves, in place of starting one (default: the hub that you run)'),
  option(
    '--scope <scope>',
    'for which projects: "local" for this one (Claude Code, where it is the default), "project" for this one in a file of it, "user" for all',
    { choices: ['local', 'project', 'user'] },
  ),
  option('--write', "merge it into the host's file; the old file is kept beside it"),
  option('--json', 'print a JSON object, for scripts'),
];

/** `notebridge setup HOST`: prints how an agent host starts us, or with `--write` puts it into the host's own config. */
export function setupCommand(command: Command, { print, ...place }: SetupTerminal = ownTerminal()): void {
  defineCommand({
    arguments: [['[host]', hosts.map((host) => host.name).join(', ')]],
    typed,
    run: async (host, { write = false, json = false, ...named }) => {
      const report = await setup({ host, write, ...named, ...place });
      print(json ? `${JSON.stringify(report, undefined, 2)}\n` : describeSetup(report));
    },
  })(command);
}

function ownTerminal(): SetupTerminal {
  return { env: process.env, platform: process.platform, project: projectOf(process.cwd()), print: (text) => process.stdout.write(text) };
}

/** The folder of the project that a folder belongs to: the nearest above it, or itself, that git knows; else itself. As Claude Code 2.1 takes it. */
function projectOf(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) return folder;
  }
}

/** A report as text for a person, ending in a line break. */
export function describeSetup(report: SetupReport): string {
  const paragraphs = report.status === 'printed' ? instructions(report) : outcome(report);
  return `${paragraphs.join('\n\n')}\n`;
}

function instructions({ host, title, file, snippet, notes, ownCommand, afterwards, ...report }: SetupReport): string[] {
  const { scope, project, notebook, kernel, files, allowNet, codeMode, url } = report;
  const named = { ...(report.isScopeNamed ? { scope } : {}), notebook, kernel, files, 'allow-net': allowNet?.join(','), url };
  const words = Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [`--${name} ${shellWord(value)}`]));
  if (codeMode !== undefined) words.push('--code-mode');
  return [
    `${title} reads its MCP servers from ${file}${ofProject(project)}`,
    'Put this into it:',
    snippet.trimEnd(),
    ...(ownCommand === undefined ? [] : [`Or let ${title} do it:`, `  ${ownCommand}`]),
    asTyped(`Nothing was written. To merge it into that file: notebridge setup ${[host, ...words].join(' ')} --write`),
    ...notes.map((note) => asTyped(note)),
    afterwards,
  ];
}

function outcome({ status, title, file, project, backup, notes, afterwards }: SetupReport): string[] {
  const remarks = notes.map((note) => asTyped(note));
  if (status === 'unchanged')
    return [`${title} already has "notebridge" in ${file}${ofProject(project)}\nNothing was written.`, ...remarks];
  const done = status === 'added' ? 'Added "notebridge" to' : 'Updated "notebridge" in';
  return [
    `${done} ${file}${ofProject(project)}${backup === undefined ? '' : `\nThe old file is kept as ${backup}`}`,
    ...remarks,
    afterwards,
  ];
}

function ofProject(project: string | undefined): string {
  return project === undefined ? '' : `\nThat is for the project ${project}`;
}
