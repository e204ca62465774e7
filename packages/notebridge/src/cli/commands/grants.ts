import { resolve } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { quote } from '@notebridge/protocol/util/quote';
import { startOfProcess } from '@notebridge/system/processes/living-process';
import { ownProcessId, ownUserId } from '@notebridge/system/processes/own-user';
import { stateDir } from '@notebridge/system/processes/state-dir';
import { shellWord } from '@notebridge/system/starts/shell-word';
import type { Command } from 'commander';
import { createWrittenFolders } from '../../assembly/trusted-folders.js';
import { collect, sharedOptions } from '../command-options.js';
import { addSubcommand, defineCommand, type OptionsOf, option } from '../define-command.js';
import { asTyped } from '../own-command.js';
import { printJsonLine } from '../terminal.js';
import { withoutControls } from '../terminal-logger.js';

/** `notebridge grants`: what code was given that outlives it. Tokens are those of `notebridge grant`. */
export function grantsCommand(command: Command): void {
  const about = 'the folders that "--files rw" ever gave, of which nothing is run outside of a sandbox';
  addSubcommand(command, 'files', about, defineCommand({ options, run: showWrittenFolders }));
}

const options = [
  option('--withdraw <folder>', 'take it back: what stands there now is trusted again (repeatable)', { parse: collect }),
  sharedOptions.json,
];

/** Prints the folders that code in a sandbox was ever given to write to, or takes them back. Rejects with `bad_usage` for one that is none of them. */
async function showWrittenFolders({ withdraw = [], json = false }: OptionsOf<typeof options>): Promise<void> {
  const record = createWrittenFolders(stateDir(), { uid: ownUserId() }, { own: ownProcessId(), startOf: startOfProcess });
  const before = record.folders;
  for (const folder of withdraw) {
    await record.remove(resolve(folder));
    if (record.folders.length < before.length - withdraw.indexOf(folder)) continue;
    throw new BridgeError('bad_usage', `${quote(folder)} is none of the folders that code was given to write to. ${toList(before)}`);
  }
  const { stdout, stderr } = process;
  if (json) printJsonLine({ folders: record.folders });
  else if (withdraw.length === 0) stdout.write(`${toList(before)}\n`);
  for (const folder of withdraw) stderr.write(warningOf(resolve(folder)));
}

function toList(folders: readonly string[]): string {
  if (folders.length === 0) return 'Code in a sandbox was given no folder to write to (--files rw).';
  const take = asTyped(`To take one back: notebridge grants files --withdraw ${shellWord(withoutControls(folders[0] ?? ''))}`);
  return [
    'Code in a sandbox was given these folders to write to. Nothing that lies there is run outside of one, or believed:',
    ...folders.map((folder) => `  ${withoutControls(folder)}`),
    take,
  ].join('\n');
}

function warningOf(folder: string): string {
  return (
    `${withoutControls(folder)} counts as yours alone again: whatever stands there now is trusted as before, also what code has written. ` +
    'Look at it first, or make its environment anew.\n'
  );
}
