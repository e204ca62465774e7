import { realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownPackageFolder } from '@notebridge/system/files/own-files';
import type { Environment } from '@notebridge/system/processes/environment';
import { shellWord } from '@notebridge/system/starts/shell-word';
import { commandDescriptions } from './command-names.js';

/**
 * What a person types to run this very program, from any folder: `notebridge` where PATH leads to it, else `node` with its absolute
 * path. Never `npx notebridge`: outside of a checkout that downloads and runs whatever bears the name in the registry.
 */
export function ownCommand(env: Environment = process.env): string {
  return leadsToUs(env) ? 'notebridge' : `node ${shellWord(ownProgramFile())}`;
}

/** The command line that runs this program with these words. */
export function commandLine(...words: string[]): string {
  return [ownCommand(), ...words.map((word) => shellWord(word))].join(' ');
}

/** A text of ours with each command in it (`notebridge serve`) as a person can type it here. For terminals only: it names a path. */
export function asTyped(text: string, command = ownCommand()): string {
  return command === 'notebridge' ? text : text.replace(mention, () => command);
}

const mention = new RegExp(`(?<![\\w/@.-])notebridge(?= (?:${Object.keys(commandDescriptions).join('|')}|--help)\\b)`, 'g');

/** What help texts end with where "notebridge" cannot be typed as it stands in them; empty where it can. */
export function commandHelp(): string {
  const command = ownCommand();
  if (command === 'notebridge') return '';
  const folder = shellWord(ownPackagePath());
  return `\nHere "notebridge" is: ${command}\nTo have the name everywhere, once: npm install --global ${folder}`;
}

/** The program that was started, absolute. Links are followed: a workspace links its packages. */
export function ownProgramFile(): string {
  return join(ownPackagePath(), 'bin', 'notebridge.js');
}

function ownPackagePath(): string {
  return realpathSync(fileURLToPath(ownPackageFolder()));
}

/** npm puts `node_modules/.bin` before the PATH of what it runs; the shell that reads our words has none of it. */
function leadsToUs({ PATH = '' }: Environment): boolean {
  const folders = PATH.split(delimiter).filter((folder) => folder !== '' && !/node_modules[\\/]\.bin[\\/]?$/.test(folder));
  for (const folder of folders) {
    try {
      return realpathSync(join(folder, 'notebridge')) === ownProgramFile();
    } catch {
      // No such command in this folder.
    }
  }
  return false;
}
