import { realpathSync } from 'node:fs';
import { basename, isAbsolute, sep } from 'node:path';

/** Options, and words of a shell, whose value is code, a place that code is taken from, or settings that name some. */
const codeOptions =
  /^(--(directory|project|prefix|cwd|chdir|app-dir|git-dir|work-tree|manifest-path|import|require|loader|experimental-loader|preload|wd|workdir|working-directory|project-directory|env-file(-if-exists)?|import-map|from|spec|package|with(-editable|-requirements)?|editable|find-links|([\w-]+-)?config(-(file|path|dir))?|ipython-dir|profile-dir|[A-Z]\w*\.(ipython_dir|location|(extra_)?config_files?|exec_files|file_to_run)|userconfig|rcfile|init-file|pythonpath|class-path)|-(C|r|I|cp|classpath|X\w*|[mM]lib)|cd|pushd|source)$/;
/** Code options whose value is the folder that later relative paths are taken from. */
const folderOptions = /^(--(directory|cwd|chdir|app-dir|wd|workdir|working-directory|project-directory)|-C|cd|pushd)$/;
/** Code options that servers have as ordinary ones, too. */
const serverOptions = /^(-(r|C)|--(project|directory|prefix|cwd|chdir|with|package|from|(\w+-)?config-(dir|path)))$/;
/** Interpreters that hand on all words behind the name of what they start. */
const handingOver = /^(npx|bunx|pnpx|uvx|node|nodejs|tsx|ts-node|python[\d.]*|pypy[\d.]*)$/;
/** Each runs what is named to it, as a script or a package. */
const interpreters =
  /^(node|nodejs|deno|bun|bunx|tsx|ts-node|npx|npm|pnpm|pnpx|yarn|uvx?|pipx|i?python[\d.]*|pypy[\d.]*|ruby|perl|php|lua[\d.]*|Rscript|R|julia|sh|bash|zsh|fish|dash|ash|ksh|busybox|go|java|pwsh|wasmtime|conda|mamba|micromamba|pixi|poetry|pdm|hatch|rye|mise|direnv|nix|bazel|cargo|dotnet|gradle|gradlew|mvn|mvnw|gunicorn|uvicorn|hypercorn|flask|streamlit|fastmcp|osascript)$/;
/** Each runs the command that follows its own options, and so many words. */
const wrappers: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    'env nice ionice nohup setsid stdbuf unbuffer xargs sudo doas su time strace ltrace catchsegv exec command xvfb-run dbus-run-session systemd-run firejail start-stop-daemon entr watchexec nodemon pm2 unshare nsenter numactl script parallel mcp-proxy'
      .split(' ')
      .map((name) => [name, 0] as const),
  ),
  timeout: 1,
  flock: 1,
  taskset: 1,
  chrt: 1,
  setarch: 1,
  chroot: 1,
};
/** Not started to serve data: whatever is named to them is what they do. */
const tools =
  /^(find|g?make|just|ninja|[gmn]?awk|sed|vim?|nvim|emacs|ed|ex|sqlite3|psql|gdb|lldb|ssh|git|pip[\d.]*|task|tox|nox|(docker|podman)-compose|tclsh[\d.]*|wish|expect|openssl|caddy|proxychains4?)$/;
const loader = /^ld(-linux.*|-musl.*)?\.so(\.\d+)*$/;
const shells = /^((ba|z|fi|da|a|k)?sh|busybox)$/;

/** Words of interpreters that come before the script or the package. */
const verbs = /^(exec|run|run-script|dlx|x|tool|start|test|--)$/;
/** Options without a value, so that the next word is the script or the package. */
const flags =
  /^-(-(yes|quiet|silent|verbose|offline|isolated|refresh|bun|frozen|locked|force|(no|prefer|allow|enable|trace)-.*)|[yqsvAgfuBEISOib]+)$/;
/** Options of interpreters that only say what may be read or written; the value of any other one may be code. */
const dataOptions = /^--(allow|deny)-/;
/** Options that a module or the code itself follows: all words after that are its arguments. */
const lastOptions = /^-([a-z]*c|m|e|-eval|-print|-command)$/;
/** Modules of Python that run what is named to them. */
const runners = /^(pip|IPython|nox|tox|cProfile|profile|trace|pdb|runpy|coverage|pytest|unittest|doctest)$/;
/** Run containers; a file of `compose`, whatever its name, says which, and how. */
const engines = /^(docker|podman|nerdctl)$/;
/** A text that is a command line, or code, follows. */
const textOptions = /^(-[a-z]*c|-e|-p|-S|--(eval|print|command|call|exec|stdio|split-string))$/;

type ProgramKind = 'interpreter' | 'wrapper' | 'tool';

/** The use that a program makes of its words, by its name, or that of the file behind its links. Undefined: they are data. */
export function programKindOf(word: string): ProgramKind | undefined {
  const names = namesOf(word);
  if (names.some((name) => interpreters.test(name))) return 'interpreter';
  if (names.some((name) => operandsOf(name) !== undefined)) return 'wrapper';
  return names.some((name) => tools.test(name)) ? 'tool' : undefined;
}

export function isShell(word: string): boolean {
  return shells.test(basename(word));
}

export function isPython(word: string): boolean {
  return namesOf(word).some((name) => /^(python|pypy)[\d.]*$/.test(name));
}

/** A text follows that is a command line, or code. */
export function isTextOption(word: string): boolean {
  return textOptions.test(word);
}

/** The values of options that name code, in the words of any program. A server may have options of its own with the names of some. */
export function valuesOfOptions(words: readonly string[]): string[] {
  const at = handedOverAt(words);
  const isOther = { test: (option: string) => codeOptions.test(option) && !serverOptions.test(option) };
  return [...valuesOf(words.slice(0, at), codeOptions), ...valuesOf(words.slice(at), isOther)];
}

/** Where the words begin that a program hands on to what it starts; all but the first of a program that is not known. */
function handedOverAt(words: readonly string[]): number {
  const [program = ''] = words;
  if (programKindOf(program) === undefined) return 1;
  if (!handingOver.test(basename(program))) return words.length;
  const last = headOf(words, 0, 'interpreter').at(-1);
  const module = words.indexOf('-m');
  if (module !== -1 && (last === undefined || module < last)) return module + 2;
  return last === undefined ? words.length : last + 1;
}

/** More of them than anybody writes would be too many ways to combine. */
const mostSteps = 4;
const mostFolders = 64;

/** `folders`, and those to which the words go from there. */
export function foldersIn(words: readonly string[], folders: readonly string[]): string[] {
  const found = new Set(folders);
  for (const step of valuesOf(words, folderOptions).slice(0, mostSteps))
    for (const folder of [...found]) if (found.size < mostFolders) found.add(isAbsolute(step) ? step : `${folder}${sep}${step}`);
  return [...found];
}

/**
 * Which words of a command line it may run besides its program: `started` as programs, by wrappers; `read` by interpreters and tools, as
 * scripts or settings. A wrapper may start another one, or an interpreter. `programs`: where in the words the programs stand.
 */
export function runsOf(words: readonly string[], programs: readonly number[] = [0]): { started: string[]; read: string[] } {
  const [started, read, seen] = [new Set<string>(), new Set<string>(), new Set<number>()];
  const waiting = [...programs].reverse();
  let firstTool = words.length;
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const kind = seen.has(at) ? undefined : programKindOf(words[at] ?? '');
    seen.add(at);
    if (kind === 'tool') firstTool = Math.min(firstTool, at);
    if (kind !== 'interpreter' && kind !== 'wrapper') continue;
    for (const index of headOf(words, at, kind)) {
      (kind === 'wrapper' ? started : read).add(words[index] ?? '');
      if (programKindOf(words[index] ?? '') !== undefined) waiting.push(index);
    }
  }
  const runner = words.findIndex(
    (word, at) => (runners.test(word) && words[at - 1] === '-m') || (word === 'compose' && words.slice(0, at).some(isEngine)),
  );
  if (runner !== -1) firstTool = Math.min(firstTool, runner);
  // A tool takes all that follows, which has what a later one takes.
  for (const word of words.slice(firstTool + 1))
    for (const value of [word, ...word.split(/\s+/), ...(/^[^=]*=(.+)$|^-\w(.+)$/s.exec(word)?.slice(1).filter(Boolean) ?? [])])
      read.add(value);
  return { started: [...started], read: [...read] };
}

/** The words of a command line that a shell in it may read as its script, or sources. */
export function shellScriptsOf(words: readonly string[]): string[] {
  return words.flatMap((word, at) =>
    isShell(word) || word === 'source' ? headOf(words, at, 'interpreter').map((index) => words[index] ?? '') : [],
  );
}

function valuesOf(words: readonly string[], options: Pick<RegExp, 'test'>): string[] {
  return words.flatMap((word, index) => {
    const [, option = '', value = ''] = /^(--?[\w.-]+)=(.*)$/s.exec(word) ?? /^(-[ICrX])(.+)$/s.exec(word) ?? [];
    return [...(options.test(word) ? [words[index + 1] ?? ''] : []), ...(options.test(option) ? [value] : [])].filter(Boolean);
  });
}

/** More options than anybody writes before a script. */
const mostHead = 128;

/** Where the words stand that a program may run: those up to the first that is no option and no value of one. */
function headOf(words: readonly string[], program: number, kind: 'interpreter' | 'wrapper'): number[] {
  const head: number[] = [];
  let operands = operandsOf(basename(words[program] ?? '')) ?? 0;
  for (let index = program + 1; index < words.length && head.length < mostHead; index++) {
    const word = words[index] ?? '';
    if (kind === 'interpreter' && lastOptions.test(word)) return head;
    // Java hands on all that follows.
    if (kind === 'interpreter' && word === '-jar') return [...head, index + 1];
    // `npm run start`: that is the name of a script.
    const isNamed = /^run(-script)?$/.test(words[index - 1] ?? '') && word !== '--';
    if (kind === 'interpreter' && ((verbs.test(word) && !isNamed) || flags.test(word))) continue;
    if (word.startsWith('-') && word.includes('=')) {
      if (kind === 'interpreter' && !dataOptions.test(word)) head.push(index);
      continue;
    }
    if (kind === 'wrapper' && /^(\w+=.*|\d[\d.,:x-]*[smhd]?)$/s.test(word)) {
      if (!word.includes('=')) operands--;
      continue;
    }
    if (!word.startsWith('-')) {
      head.push(index);
      if (operands-- <= 0) return head;
      continue;
    }
    // It may have a value, and the script or the package comes after that.
    const value = words[++index] ?? '';
    if (value.startsWith('-')) index--;
    else head.push(index);
    if (kind === 'wrapper' && programKindOf(value) !== undefined) return head;
  }
  return head;
}

/** It runs containers, and names folders as `FOLDER:PLACE`. */
export function isEngine(word: string): boolean {
  return engines.test(basename(word));
}

function operandsOf(name: string): number | undefined {
  return Object.hasOwn(wrappers, name) ? wrappers[name] : loader.test(name) ? 0 : undefined;
}

/** Its own, and that of the file behind its links. */
function namesOf(word: string): string[] {
  return [basename(word), ...(word.startsWith('/') ? [nameBehind(word)] : [])].map((name) => name.replace(/\.exe$/i, ''));
}

function nameBehind(path: string): string {
  try {
    return basename(realpathSync(path));
  } catch {
    return '';
  }
}
