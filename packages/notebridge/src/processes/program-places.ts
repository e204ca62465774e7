import { existsSync, statSync } from 'node:fs';
import { basename, delimiter, isAbsolute, join, resolve } from 'node:path';
import { writtenBy } from './written-rule.js';

/** How a program is started. */
export interface ProgramStart {
  command: string;
  args: readonly string[];
  /** Where it is looked for by name. Default: on our PATH. */
  searchPath?: string | undefined;
  /** Where it begins. Default: where we are. */
  cwd?: string | undefined;
}

/** Options of launchers and interpreters that name code, or where it is looked for, for what follows them. */
const codeOptions = /^(--directory|--project|--prefix|--cwd|-C|--import|--require|-r|--loader|--experimental-loader|--preload)$/;
/** A folder that is named to one of these is run. */
const interpreters = /^(node|deno|bun|tsx|ts-node|python[\d.]*|pypy[\d.]*|ruby|perl|php|sh|bash|zsh|fish|go|java)$/;

/** The paths of what a start runs, as far as it names them: its program, its script, the code that options name. What a server gets as data is none. */
export function findProgramPlaces({ command, args, searchPath = process.env.PATH ?? '', cwd = process.cwd() }: ProgramStart): string[] {
  const program = /[\\/]/.test(command) ? resolve(cwd, command) : findOnPath(command, searchPath);
  const isInterpreter = interpreters.test(basename(command));
  const first = args.find((arg, index) => !arg.startsWith('-') && !codeOptions.test(args[index - 1] ?? ''));
  const script = first === undefined ? undefined : resolve(cwd, first);
  const isScript = script !== undefined && (isFile(script) || (isInterpreter && existsSync(script)));
  const named = args.flatMap((arg, index) => {
    const [option = '', value] = arg.split(/=(.*)/s);
    const path = codeOptions.test(arg) ? args[index + 1] : codeOptions.test(option) ? value : undefined;
    return path !== undefined && /[\\/.]/.test(path) ? [resolve(cwd, path.replace(/^file:\/\//, ''))] : [];
  });
  return [...(program === undefined ? [] : [program]), ...(isScript ? [script] : []), ...named];
}

/** The first that is there and that no code has put there: what is started is found in the same order. */
function findOnPath(name: string, searchPath: string): string | undefined {
  const folders = searchPath.split(delimiter).filter((folder) => isAbsolute(folder) && writtenBy(folder) === undefined);
  return folders.map((folder) => join(folder, name)).find(isFile);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
