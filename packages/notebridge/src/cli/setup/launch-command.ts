import { shellWord } from '@notebridge/kit/shell-word';
import { ownProgramFile } from '../own-command.js';

/** How an agent host starts us. */
export interface LaunchCommand {
  command: string;
  args: string[];
}

/**
 * This very program, by its absolute path: a host starts us from any folder. Not `npx -y notebridge`, which is somebody else's program
 * as long as the name is not published.
 */
export function launchCommand(file: string = ownProgramFile()): LaunchCommand {
  return { command: 'node', args: [file] };
}

/** The command line as a person would paste it into a shell. */
export function toShellLine({ command, args }: LaunchCommand): string {
  return [command, ...args].map((word) => shellWord(word)).join(' ');
}
