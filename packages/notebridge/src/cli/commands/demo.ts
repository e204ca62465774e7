import { constants } from 'node:fs';
import { access, lstat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { reasonOf, remedyOf } from '@notebridge/kit/errno';
import type { SandboxMode } from '@notebridge/notebook/host';
import { type Command, Option } from 'commander';
import { BridgeError } from '../../core/errors.js';
import { makeOwnScratch } from '../../identity/own-scratch.js';
import { searchPathOutside } from '../../processes/written-rule.js';
import { ownPackageFolder } from '../../state/own-files.js';
import { addOptions, sharedOptions } from '../command-options.js';
import { commandLine } from '../own-command.js';

/** `notebridge demo`: the main job, played and checked from end to end on this machine, with no settings and no network. */
export function demoCommand(command: Command): void {
  command
    .option('--browser', 'show the notebook in a window, until you press Enter')
    .option('--keep <file>', 'keep the notebook as this new .ipynb file (default: it is removed)')
    .option('--json', 'print a JSON object {ok, steps}, for scripts')
    // Named like the option of the other commands, and there is one such place so far.
    .addOption(new Option('--notebook <where>', 'the notebook to play in').choices(['local']).default('local'));
  addOptions(command, [sharedOptions.sandbox()]).action(playDemo);
}

interface DemoCommandOptions {
  browser?: boolean;
  keep?: string;
  json?: boolean;
  sandbox?: SandboxMode;
}

/** The demo is a user of the package, and no part of this program. */
async function playDemo({ keep, ...options }: DemoCommandOptions): Promise<void> {
  if (keep !== undefined) await assertFree(resolve(keep));
  const { tellDemo } = await import(new URL('dist/demo/main.js', ownPackageFolder()).href);
  const folder = await makeOwnScratch();
  // Its programs have a state folder of their own, so they would not know where code of other notebooks could write.
  process.env.PATH = searchPathOutside(process.env.PATH ?? '');
  try {
    await tellDemo({ ...options, keep, folder: folder.path, typed: commandLine });
  } finally {
    await folder.remove();
  }
}

async function assertFree(file: string): Promise<void> {
  if (!file.endsWith('.ipynb')) throw refusal(file, 'that is no name of a notebook. Name a file that ends in .ipynb.');
  const found = await lstat(file).catch(() => undefined);
  if (found !== undefined) throw refusal(file, 'something is there already, and the demo overwrites nothing. Name a new file.');
  try {
    // With the slash at its end it has to be a folder.
    await access(`${dirname(file)}/`, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw refusal(file, `no file can be made there: ${reasonOf(error)}. ${remedyOf(error)}`);
  }
}

function refusal(file: string, why: string): BridgeError {
  return new BridgeError('bad_usage', `Cannot keep the notebook as "${file}": ${why}`);
}
