import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { ensurePrivateDir } from '@notebridge/system/files/private-file';
import { describeEnvironment } from '@notebridge/system/processes/environment';
import { ownUserId } from '@notebridge/system/processes/own-user';
import { stateDir } from '@notebridge/system/processes/state-dir';
import { type Check, failedCheck, note, ok } from './check.js';

/** As package.json demands. */
const least = [20, 19] as const;

export function checkNode(): Check {
  const version = process.versions.node;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > least[0] || (major === least[0] && minor >= least[1])) return ok('Node.js', version);
  return failedCheck('Node.js', `${version} is too old`, `Install ${least.join('.')} or newer.`);
}

/** Whether a notebook can be shown here. Without a browser the answer of the open tool names the URL, so it is no fault. */
export function checkBrowser(): Check {
  const { env } = process;
  const { BROWSER: named = '' } = env;
  if (named.trim() !== '') return ok('browser', `BROWSER is set to ${JSON.stringify(named)}`);
  const { display, ssh, container, wsl } = describeEnvironment({ env });
  if (display) return ok('browser', `the system's own${wsl ? ', on Windows' : ''}`);
  const why = ssh ? 'this is an SSH session' : container ? 'this is a container' : 'this machine has no screen';
  return note('browser', `none can be opened: ${why}`, 'Open by hand the URL that the agent gets, or set BROWSER.');
}

/** The folder of tokens and grants must be the user's own and closed to others. */
export function checkStateDir(): Check {
  const [name, dir] = ['state folder', stateDir()];
  if (!existsSync(dir)) return checkToBeMade(name, dir);
  try {
    ensurePrivateDir(dir, { uid: ownUserId() });
    accessSync(dir, constants.W_OK);
    return ok(name, `${dir} is yours alone`);
  } catch (error) {
    return failedCheck(name, messageOf(error), 'Until then no tokens, grants or audit can be kept.');
  }
}

/** A folder that has to be there, or can be made, and be written to. */
export function checkFolder(name: string, dir: string, option: string): Check {
  if (!existsSync(dir)) return checkToBeMade(name, dir);
  if (!statSync(dir).isDirectory()) return failedCheck(name, `${dir} is not a folder`, `Choose another ${option}.`);
  if (isWritable(dir)) return ok(name, `${dir} can be written`);
  return failedCheck(name, `${dir} cannot be written`, `Give yourself the right to write there, or choose another ${option}.`);
}

function checkToBeMade(name: string, dir: string): Check {
  let above = dirname(dir);
  while (!existsSync(above) && above !== dirname(above)) above = dirname(above);
  if (isWritable(above) && statSync(above).isDirectory()) return ok(name, `${dir} will be made when it is needed`);
  return failedCheck(name, `${dir} is not there and cannot be made`, 'Make it, or give yourself the right to write above it.');
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
