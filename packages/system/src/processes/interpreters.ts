import { extname } from 'node:path';

export interface ScriptInterpreter {
  command: string;
  /** What stands before the path of the script. */
  args: string[];
}

/** The endings of scripts that can be run. */
export const scriptSuffixes = ['.py', '.sh', '.bash', '.js', '.mjs', '.cjs'] as const;

/**
 * The program that runs a script, by the script's ending; undefined for one that is no script. A `.sh` whose first line asks for
 * bash gets bash; JavaScript runs in the Node that runs us.
 */
export function interpreterOf(file: string, firstLine = ''): ScriptInterpreter | undefined {
  switch (extname(file).toLowerCase()) {
    case '.py':
      return { command: process.platform === 'win32' ? 'python' : 'python3', args: [] };
    case '.sh':
      return { command: /^#!.*\bbash\b/.test(firstLine) ? 'bash' : 'sh', args: [] };
    case '.bash':
      return { command: 'bash', args: [] };
    case '.js':
    case '.mjs':
    case '.cjs':
      return { command: process.execPath, args: [] };
    default:
      return undefined;
  }
}
