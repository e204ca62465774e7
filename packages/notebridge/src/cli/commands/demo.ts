import { constants } from 'node:fs';
import { access, lstat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { reasonOf, remedyOf } from '@notebridge/protocol/util/errno';
import { ownPackageFolder } from '@notebridge/system/files/own-files';
import { makeOwnScratch } from '@notebridge/system/files/own-scratch';
import { searchPathOutside } from '@notebridge/system/processes/written-rule';
import { sharedOptions } from '../command-options.js';
import { defineCommand, type OptionsOf, option } from '../define-command.js';
import { commandLine } from '../own-command.js';

const typed = [
  option('--browser', 'show the notebook in a window, until you press Enter'),
  option('--keep <file>', 'keep the notebook as this new .ipynb file (default: it is removed)'),
  option('--json', 'print a JSON object {ok, steps}, for scripts'),
  // Named like the option of the other commands, and there is one such place so far.
  option('--notebook <where>', 'the notebook to play in', { choices: ['local'], default: 'local' }),
];
const options = [sharedOptions.sandbox];

/** `notebridge demo`: the main job, played and checked from end to end on this machine, with no settings and no network. */
export const demoCommand = defineCommand({ typed, options, run: playDemo });

/** The demo is a user of the package, and no part of this program. */
async function playDemo({ keep, ...others }: OptionsOf<typeof typed> & OptionsOf<typeof options>): Promise<void> {
  if (keep !== undefined) await assertFree(resolve(keep));
  const { tellDemo } = await import(new URL('dist/demo/main.js', ownPackageFolder()).href);
  const folder = await makeOwnScratch();
  // Its programs have a state folder of their own, so they would not know where code of other notebooks could write.
  process.env.PATH = searchPathOutside(process.env.PATH ?? '');
  try {
    await tellDemo({ ...others, keep, folder: folder.path, typed: commandLine });
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
