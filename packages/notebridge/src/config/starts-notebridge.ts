/**
 * True for a command line that would start Notebridge itself, which would start itself again, and so on: by name, by path,
 * through a package runner or `node`, or inside a shell's command string. What stands behind the program is its own business: a
 * server that is merely given the word as an argument is not refused.
 */
export function startsNotebridge(command: string, args: readonly string[]): boolean {
  const [inner, ...behind] = unwrap(programOf(command), args) ?? [];
  if (inner !== undefined) return startsNotebridge(inner, behind);
  return isOurs(command) && !isHarmless(args);
}

/** A replayed server starts nothing; `record FILE -- SERVER` starts that server alone. */
function isHarmless([subcommand, ...args]: readonly string[]): boolean {
  if (subcommand === 'replay') return true;
  const [command, ...behind] = subcommand === 'record' && args.includes('--') ? args.slice(args.indexOf('--') + 1) : [];
  return command !== undefined && !startsNotebridge(command, behind);
}

const runners = ['npx', 'bunx', 'pnpx', 'npm', 'pnpm', 'yarn', 'bun', 'deno', 'node', 'nodejs'];
const subcommands = ['exec', 'x', 'dlx', 'run'];
const shells = ['sh', 'bash', 'zsh', 'dash', 'ash', 'fish'];

/** The command line inside another program's arguments; undefined if that program runs nothing else. */
function unwrap(program: string, args: readonly string[]): readonly string[] | undefined {
  if (program === 'env') return args.filter((word) => !/^(-|\w+=)/.test(word));
  if (program === 'cmd') return args.filter((word) => !word.startsWith('/'));
  if (shells.includes(program))
    return args
      .filter((word) => !word.startsWith('-'))
      .join(' ')
      .trim()
      .split(/\s+/)
      .filter((word) => word !== 'exec');
  if (!runners.includes(program)) return undefined;
  const [first = '', ...rest] = behindOptions(args);
  const words = subcommands.includes(first) ? rest : args;
  const fetched = words.find((word) => word.startsWith('--package='));
  return fetched === undefined ? behindOptions(words) : [fetched.slice('--package='.length)];
}

/** Also right for `-p name` and `--package name`: the first word behind the options is then what is fetched. */
function behindOptions(words: readonly string[]): readonly string[] {
  const first = words.findIndex((word) => !word.startsWith('-'));
  return first < 0 ? [] : words.slice(first);
}

/** The program of a path, without folder and Windows ending. */
function programOf(command: string): string {
  const name = command.split(/[\\/]/).at(-1) ?? '';
  return name.toLowerCase().replace(/\.(exe|cmd|bat|ps1)$/, '');
}

/** Our command, our package with or without a version, our stub, or our main module. */
function isOurs(word: string): boolean {
  const path = word.replaceAll('\\', '/').replace(/^npm:/, '');
  if (/(^|\/)notebridge\/(dist|src)\/cli\/main\.[jt]s$/.test(path)) return true;
  return !path.startsWith('@') && /^notebridge(\.js)?(@.*)?$/.test(programOf(path));
}
