import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from '@notebridge/kit/message-of';
import { ownUserId } from '../../processes/own-user.js';
import { stateDir } from '../../processes/state-dir.js';
import { ensurePrivateDir } from '../../state/private-file.js';
import { type Check, failedCheck, ok } from './check.js';

/** The folder of tokens and grants must be the user's own and closed to others. */
export function checkStateDir(): Check {
  const dir = stateDir();
  if (!existsSync(dir))
    return writableAncestor(dir) ? ok('state folder', `${dir} will be made when it is needed`) : notWritable('state folder', dir);
  try {
    ensurePrivateDir(dir, { uid: ownUserId() });
    accessSync(dir, constants.W_OK);
    return ok('state folder', `${dir} is yours alone`);
  } catch (error) {
    return failedCheck('state folder', messageOf(error), 'Until then no tokens, grants or audit can be kept.');
  }
}

/** A folder that has to be there, or can be made, and be written to. */
export function checkFolder(name: string, dir: string, option: string): Check {
  if (!existsSync(dir)) {
    return writableAncestor(dir) ? ok(name, `${dir} will be made when it is needed`) : notWritable(name, dir);
  }
  if (!statSync(dir).isDirectory()) return failedCheck(name, `${dir} is not a folder`, `Choose another ${option}.`);
  try {
    accessSync(dir, constants.W_OK);
    return ok(name, `${dir} can be written`);
  } catch {
    return failedCheck(name, `${dir} cannot be written`, `Give yourself the right to write there, or choose another ${option}.`);
  }
}

function notWritable(name: string, dir: string): Check {
  return failedCheck(name, `${dir} is not there and cannot be made`, 'Make it, or give yourself the right to write above it.');
}

function writableAncestor(dir: string): boolean {
  let above = dirname(dir);
  while (!existsSync(above) && above !== dirname(above)) above = dirname(above);
  try {
    accessSync(above, constants.W_OK);
    return statSync(above).isDirectory();
  } catch {
    return false;
  }
}
