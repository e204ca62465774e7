import { shellWord } from '@notebridge/kit/shell-word';
import { asTyped } from '../own-command.js';
import type { SetupReport } from './setup.js';

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
