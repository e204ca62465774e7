import { type Stats, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, extname, isAbsolute, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findImportPlaces } from './import-places.js';
import { findIpythonPlaces } from './ipython-places.js';
import { foldersIn, isPython, isShell, isTextOption, programKindOf, runsOf, valuesOfOptions } from './program-words.js';
import { expandVariables, interpretersOf, looseWordsOf, parseShellText, type VariableLookUp } from './shell-words.js';
import { readSmallFile } from './small-file.js';

/** A command line, and what surrounds it. */
export interface CodeStart {
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Where it begins: relative paths are of there. */
  cwd: string;
  /** The file of a program that is named without a path, where it is known. */
  findProgram?: ((name: string) => string | undefined) | undefined;
}

interface Surroundings extends Omit<CodeStart, 'argv' | 'cwd' | 'env'> {
  lookUp: VariableLookUp;
  /** Where it may be when it takes a relative path. */
  folders: readonly string[];
  /** Commands within commands, and interpreters of scripts, that were followed. */
  depth: number;
}

/** More than anybody writes. */
const mostDepth = 8;
const mostTexts = 16;
const mostModules = 16;
const mostModuleFolders = 256;
const mostModuleParts = 8;

/** Each of these names code for some interpreter or linker, or a folder from which it takes code or settings. */
const codeVariables =
  /^(PYTHON(PATH|HOME|STARTUP|USERBASE|BREAKPOINT|EXECUTABLE)|NODE_(OPTIONS|PATH)|PERL5?(LIB|OPT|DB)|RUBY(LIB|OPT)|GEM_(HOME|PATH)|LD_(PRELOAD|LIBRARY_PATH|AUDIT)|DYLD_.*|BASH_ENV|ENV|ZDOTDIR|HOME|XDG_CONFIG_HOME|IPYTHONDIR|JUPYTER_.*|VIRTUAL_ENV|CONDA_PREFIX|CLASSPATH|(_?JAVA|JDK_JAVA)_.*OPTIONS|LUA_C?PATH|PHPRC|PHP_INI_SCAN_DIR|R_(LIBS.*|PROFILE.*|ENVIRON.*|HOME)|JULIA_(LOAD_PATH|DEPOT_PATH|PROJECT)|(NPM|npm)_(CONFIG|config)_.*|UV_.*|PIP_.*|DENO_.*|BUN_.*|GIT_.*|MAKEFILES|MAKEFLAGS|OPENSSL_(CONF|MODULES|ENGINES)|CARGO_.*|AWKPATH|LESSOPEN|TCLLIBPATH)$/;

/** Some of these say which environment a shell is in, or belong to tools: no kernel takes code by them as it starts. */
const shellVariables = /^(VIRTUAL_ENV|CONDA_PREFIX|UV_.*|PIP_.*|GIT_.*|CARGO_.*|MAKEFILES|MAKEFLAGS|(NPM|npm)_.*)$/;

const codeSuffix =
  /\.(py|pyw|pyc|pyz|pyd|pth|[cm]?[jt]sx?|(ba|z|k|fi|da|c)?sh|rb|pl|pm|php|phar|lua|tcl|r|jl|go|jar|class|wasm|so(\.[\d.]+)?|dylib|dll|exe|bat|cmd|ps1|node|env|toml|cfg|rc)$/i;

/**
 * The paths of what a start runs, as far as its words and variables name it: programs and the interpreters of scripts, modules, what options
 * take code from, what the words of a shell script are, where a Python takes modules from. Whether something is there now decides nothing that code in one of these places could
 * change: what an interpreter, a wrapper or an option takes as code is code by whatever name, and so is the suffix of a script, wherever it is
 * named. Other words are data, but for a file that is there and may be run, or has no suffix.
 */
export function findCodePlaces({ argv, env, cwd, findProgram }: CodeStart): string[] {
  const around = { lookUp: variablesIn(env), findProgram, folders: [cwd], depth: 0 };
  const ofIpython = env.IPYTHONDIR ? findIpythonPlaces(env) : [];
  const places = [...new Set([...placesOfCommand(argv, around), ...placesOfVariables(env, around), ...ofIpython])];
  const ofPython = { HOME: process.env.HOME, PYTHONUSERBASE: process.env.PYTHONUSERBASE, ...env };
  return [...places, ...places.filter(isPython).flatMap((python) => findImportPlaces(python, ofPython))];
}

/** As `findCodePlaces`, of what a kernel inherits, whatever its words are: variables that name code, and IPython's own folder. */
export function findInheritedPlaces(env: Readonly<Record<string, string | undefined>>, cwd: string): string[] {
  const inherited = Object.entries(toTexts(env)).filter(([name]) => codeVariables.test(name) && !shellVariables.test(name));
  const around = { lookUp: variablesIn({}), folders: [cwd], depth: 0 };
  return [...placesOfVariables(Object.fromEntries(inherited), around), ...findIpythonPlaces(env)];
}

function placesOfCommand(argv: readonly string[], around: Surroundings): string[] {
  if (around.depth > mostDepth) return [];
  const words = expand(argv, around.lookUp);
  const loose = words.flatMap((word) => (/[\s;|&()<>'"`]/.test(word) ? looseWordsOf(word) : [word]));
  const inside = { ...around, folders: foldersIn(loose, around.folders), depth: around.depth + 1 };
  const { started, read } = runsOf(words);
  const programs = [words[0] ?? '', ...started].flatMap((word) => programsNamed(word, inside));
  const interpreters = loose.flatMap((word, index) => (programKindOf(word) === 'interpreter' ? [index] : []));
  const ofOptions = [...valuesOfOptions(words), ...valuesOfOptions(loose)].flatMap((value) => [
    value,
    ...value.split(delimiter),
    ...looseWordsOf(value),
  ]);
  const code = [...started, ...read, ...runsOf(loose, interpreters).read, ...ofOptions].flatMap((word) => pathsNamed(word, inside.folders));
  const files = [...words, ...loose].flatMap(partsOf).flatMap((word) => toPaths(word, inside.folders));
  const own = assignmentsIn(words);
  const set = { ...inside, lookUp: variablesIn(own, inside.lookUp) };
  return [
    ...programs,
    // Node adds the suffix itself.
    ...code.flatMap((path) => [path, `${path}.js`]),
    ...files.filter(isCodeFile),
    ...modulesOf(modulesIn(loose), set),
    ...placesOfVariables(own, inside, true),
    ...placesOfTexts(words, set),
    ...(words.some(isShell) ? read.flatMap((script) => placesOfScripts(script, words, set)) : []),
    ...programs.flatMap((program, index) => {
      const after = index === 0 ? [program, ...words.slice(1)] : [program];
      return interpretersOf(program).flatMap((command) => placesOfCommand([...command, ...after], set));
    }),
  ];
}

/** The places that words name which are themselves code, or a command line. */
function placesOfTexts(words: readonly string[], around: Surroundings): string[] {
  let interpreter: string | undefined;
  let texts = 0;
  return words.flatMap((word, index) => {
    const isText = isTextOption(words[index - 1] ?? '') && texts++ < mostTexts;
    const places = !isText
      ? []
      : interpreter !== undefined && !isShell(interpreter)
        ? placesOfCode(word, around)
        : placesOfShell(word, words, index + 1, around);
    if (programKindOf(word) === 'interpreter') interpreter = word;
    return places;
  });
}

function placesOfCode(text: string, around: Surroundings): string[] {
  const imported = [...text.matchAll(/\b(?:from|import)\s+([\w.]+(?:\s*,\s*[\w.]+)*)/g)].flatMap(([, names = '']) =>
    names.split(/\s*,\s*/),
  );
  return [...looseWordsOf(text).flatMap((word) => pathsNamed(word, around.folders)), ...modulesOf(imported, around)];
}

/** A script of a shell is a command line in a file. One that is longer than anybody writes by hand is not read. */
function placesOfScripts(script: string, words: readonly string[], around: Surroundings): string[] {
  if (around.depth > mostDepth) return [];
  return pathsNamed(script, around.folders).flatMap((path) => {
    const text = readSmallFile(path);
    return text === undefined || text.includes('\0')
      ? []
      : placesOfShell(text.replace(/^\s*#.*$/gm, ''), words, words.indexOf(script), around);
  });
}

/** `first`: where in the words the parameters begin, with `$0`. */
function placesOfShell(text: string, words: readonly string[], first: number, around: Surroundings): string[] {
  const parameterOf = (which: string) => (/\d/.test(which) ? (words[first + Number(which)] ?? '') : words.slice(first + 1).join(' '));
  const lookUp = variablesIn({ PWD: around.folders[0] ?? '' }, around.lookUp);
  const { commands, variables } = parseShellText(text, lookUp, parameterOf);
  const inside = { ...around, lookUp: variablesIn(variables, lookUp), folders: foldersIn(commands.flat(), around.folders) };
  return [...placesOfVariables(variables, inside, true), ...commands.flatMap((command) => placesOfCommand(command, inside))];
}

function programsNamed(word: string, { folders, findProgram }: Surroundings): string[] {
  if (/[\\/]/.test(word)) return toPaths(word, folders);
  const found = findProgram?.(word);
  return found === undefined ? [] : [found];
}

/** As a shell does, and Jupyter for what a kernelspec says. */
function expand(words: readonly string[], lookUp: VariableLookUp): string[] {
  const home = lookUp('HOME') ?? '';
  return expandVariables(words, lookUp).map((word) => word.replace(/(^|[\s=:"'])~(?=\/)/g, (_, before: string) => before + home));
}

function toTexts(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const])));
}

/** Looks into `env`, then into what else is known. */
function variablesIn(env: Readonly<Record<string, string>>, known: VariableLookUp = ownVariables): VariableLookUp {
  return (name) => (Object.hasOwn(env, name) ? env[name] : known(name));
}

/** No program gets our own `PYTHONPATH` without that its start says so. */
function ownVariables(name: string): string | undefined {
  return name === 'PYTHONPATH' ? undefined : (process.env[name] ?? (name === 'HOME' ? homedir() : undefined));
}

/** A word, and what stands in it behind `=`, `:` or a short option. */
function partsOf(word: string): string[] {
  const behind = [/^[^=]*=(.*)$/s, /^-\w+?([./].*)$/s, /^-\w(.+)$/s].map((form) => form.exec(word)?.[1] ?? '');
  const separate = word.split(/[:=,]/);
  return [word, ...behind, ...(separate.length > 1 ? separate : [])].filter((part) => part !== '' && !part.startsWith('-'));
}

/** `-m proj.mod` and `proj.mod:app`. */
function modulesIn(words: readonly string[]): string[] {
  const named = words.flatMap((word, index) => (words[index - 1] === '-m' ? [word] : (/^-m(\w.*)$/.exec(word)?.slice(1) ?? [])));
  return [...named, ...words.filter((word) => /^\w+(\.\w+)*:\w+$/.test(word))].map((word) => word.replace(/:.*$/, ''));
}

function modulesOf(modules: readonly string[], { folders, lookUp }: Surroundings): string[] {
  if (modules.length === 0) return [];
  const named = (lookUp('PYTHONPATH') ?? '').split(delimiter).filter(Boolean);
  const all = [...folders, ...named.slice(0, mostModuleFolders).flatMap((entry) => toPaths(entry, folders))];
  const paths = modules.slice(0, mostModules).flatMap((module) => {
    const parts = module.split('.').filter(Boolean).slice(0, mostModuleParts);
    return parts.map((_, index) => join(...parts.slice(0, index + 1)));
  });
  return all.flatMap((folder) => paths.flatMap((path) => [`${folder}${sep}${path}`, `${folder}${sep}${path}.py`]));
}

function assignmentsIn(words: readonly string[]): Record<string, string> {
  const found = words.map((word) => /^(\w+)=(.*)$/s.exec(word)).filter((match) => match !== null);
  return Object.fromEntries(found.map(([, name = '', value = '']) => [name, value]));
}

/** `isOwn`: set by the command itself, so that nobody has taken such folders out of its `PATH`. */
function placesOfVariables(env: Readonly<Record<string, string>>, around: Surroundings, isOwn = false): string[] {
  const names = Object.keys(env);
  return expand(Object.values(env), around.lookUp).flatMap((value, index) => {
    const name = names[index] ?? '';
    const words = looseWordsOf(value);
    const parts = [value, ...value.split(delimiter), ...words.flatMap(partsOf), ...valuesOfOptions(words)].filter(Boolean);
    const isList = /(PATH|LIB)$/.test(name);
    const paths = parts.flatMap((part) => (isList ? toPaths(part, around.folders) : pathsNamed(part, around.folders)));
    return codeVariables.test(name) || (isOwn && name === 'PATH') ? paths : paths.filter(isCodeFile);
  });
}

function isCodeFile(path: string): boolean {
  const name = basename(path);
  if (codeSuffix.test(name)) return true;
  const found = statOf(path);
  return found?.isFile() === true && (extname(name) === '' || (found.mode & 0o111) !== 0);
}

/** A word without a sign of a path may be any name, unless such a folder or file is there. */
function pathsNamed(word: string, folders: readonly string[]): string[] {
  const paths = toPaths(word, folders);
  return /[\\/]|^\.\.?$/.test(word) ? paths : paths.filter((path) => statOf(path) !== undefined);
}

/** Not made shorter: what `..` means behind a link is known to whoever follows the path. */
function toPaths(word: string, folders: readonly string[]): string[] {
  const plain = word.replace(/^file:(\/\/)?/i, '').replace(/^@(?=\/)/, '');
  const paths = plain === '' ? [] : isAbsolute(plain) ? [plain] : folders.map((folder) => `${folder}${sep}${plain}`);
  return /^file:/i.test(word) ? [...paths, ...pathOfUrl(word)] : paths;
}

/** With its escapes, and without a host, as Node takes it. */
function pathOfUrl(url: string): string[] {
  try {
    return [fileURLToPath(new URL(url))];
  } catch {
    return [];
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // Too long for a name, a zero in it, or below a file.
    return undefined;
  }
}
