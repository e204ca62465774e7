import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownPackageFolder } from '../../state/own-files.js';

/** How an agent host starts us. */
export interface LaunchCommand {
  command: string;
  args: string[];
}

/**
 * `npx -y notebridge` when this program runs from an install (npx, global, a project's node_modules), and `node …/bin/notebridge.js`
 * when it runs from a checkout, so that the host starts the code that the person is working on.
 */
export function launchCommand(platform: NodeJS.Platform, packageFolder: string = ownFolderPath()): LaunchCommand {
  const installed = packageFolder.split(/[\\/]/).includes('node_modules');
  if (!installed) return { command: 'node', args: [join(packageFolder, 'bin', 'notebridge.js')] };
  // On Windows npx is a script, which most hosts cannot start without a shell around it.
  return platform === 'win32'
    ? { command: 'cmd', args: ['/c', 'npx', '-y', 'notebridge'] }
    : { command: 'npx', args: ['-y', 'notebridge'] };
}

/** The command line as a person would paste it into a POSIX shell. */
export function toShellLine({ command, args }: LaunchCommand): string {
  return [command, ...args].map(quoteWord).join(' ');
}

/** A word as a POSIX shell takes it. */
export function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Links are followed: a workspace links its packages. */
function ownFolderPath(): string {
  return realpathSync(fileURLToPath(ownPackageFolder()));
}
