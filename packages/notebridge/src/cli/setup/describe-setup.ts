import { asTyped, quoteWord } from '../own-command.js';
import type { SetupReport } from './setup.js';

/** A report as text for a person, ending in a line break. */
export function describeSetup(report: SetupReport): string {
  const paragraphs = report.status === 'printed' ? instructions(report) : outcome(report);
  return `${paragraphs.join('\n\n')}\n`;
}

function instructions({ host, title, file, snippet, notebook, ownCommand, afterwards }: SetupReport): string[] {
  const words = notebook === undefined ? [] : [`--notebook ${quoteWord(notebook)}`];
  return [
    `${title} reads its MCP servers from ${file}`,
    'Put this into it:',
    snippet.trimEnd(),
    ...(ownCommand === undefined ? [] : [`Or let ${title} do it:`, `  ${ownCommand}`]),
    asTyped(`Nothing was written. To merge it into that file: notebridge setup ${[host, ...words].join(' ')} --write`),
    afterwards,
  ];
}

function outcome({ status, title, file, backup, afterwards }: SetupReport): string[] {
  if (status === 'unchanged') return [`${title} already has "notebridge" in ${file}\nNothing was written.`];
  const done = status === 'added' ? 'Added "notebridge" to' : 'Updated "notebridge" in';
  return [`${done} ${file}${backup === undefined ? '' : `\nThe old file is kept as ${backup}`}`, afterwards];
}
