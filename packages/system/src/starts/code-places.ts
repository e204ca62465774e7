import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasDataSuffix, isCodeFile, statOf } from './code-files.js';
import { isWithin } from './find-written.js';
import { findBehindShim, findImportPlaces, findIpythonPlaces } from './import-places.js';
import {
  foldersIn,
  isEngine,
  isPython,
  isShell,
  isTextOption,
  programKindOf,
  runsOf,
  shellScriptsOf,
  valuesOfOptions,
} from './program-words.js';
import { expandVariables, interpretersOf, isPlainShellText, looseWordsOf, parseShellText, type VariableLookUp } from './shell-words.js';
import { readHead, readSmallFile } from './small-file.js';
import { foldersHiddenIn, foldersNamedBy } from './text-folders.js';
import { fragmentsOf, isVolume, partsOf, sourcesOf } from './word-parts.js';

/** A command line, and what surrounds it. */
export interface CodeStart {
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Where it begins: relative paths are of there. */
  cwd: string;
  /** The file of a program that is named without a path, where it is known. */
  findProgram?: ((name: string) => string | undefined) | undefined;
  /** The folders that code may write to. A text that computes its paths, and names one of these or a folder above it, may take code from there. */
  given?: readonly string[] | undefined;
}

/** A command means another thing where these differ, as where its variables do. */
interface Folders {
  /** Where it may be when it takes a relative path. */
  folders: readonly string[];
  /** Where it may look for programs, besides where `findProgram` does. */
  searched: readonly string[];
}

interface Surroundings extends Omit<CodeStart, 'argv' | 'cwd' | 'env' | 'given'>, Folders {
  given: readonly string[];
  lookUp: VariableLookUp;
  /** Commands within commands, and interpreters of scripts, that were followed. */
  depth: number;
  /** Is another one where variables or folders differ. */
  scope: string;
  /** The least depth at which a command was followed in a scope: scripts that start each other come to the same commands a thousand times. */
  followed: Map<string, number>;
}

/** More than anybody writes. */
const mostDepth = 8;
/** Bytes of a script that are searched. */
const mostScript = 4 * 1024 * 1024;
const mostTexts = 16;
const mostModules = 16;
const mostModuleFolders = 256;
const mostModuleParts = 8;
const mostSearched = 64;

/** Each of these names code for some interpreter or linker, or a folder from which it takes code or settings. */
const codeVariables =
  /^(PYTHON.*|NODE_(OPTIONS|PATH)|PERL5?(LIB|OPT|DB)|RUBY(LIB|OPT)|GEM_(HOME|PATH)|LD_(PRELOAD|LIBRARY_PATH|AUDIT)|DYLD_.*|BASH_ENV|ENV|BASH_FUNC_.*|PS4|ZDOTDIR|HOME|XDG_(CONFIG|CACHE|DATA)_HOME|IPYTHONDIR|JUPYTER_.*|VIRTUAL_ENV|CONDA_PREFIX|PYENV_.*|CLASSPATH|(_?JAVA|JDK_JAVA)_.*OPTIONS|LUA_C?PATH|PHPRC|PHP_INI_SCAN_DIR|R_(LIBS.*|PROFILE.*|ENVIRON.*|HOME)|JULIA_(LOAD_PATH|DEPOT_PATH|PROJECT)|(NPM|npm)_(CONFIG|config)_.*|UV_.*|PIP_.*|GCONV_PATH|NODE_COMPILE_CACHE|DENO_.*|BUN_.*|GIT_.*|MAKEFILES|MAKEFLAGS|OPENSSL_(CONF|MODULES|ENGINES)|CARGO_.*|AWKPATH|LESSOPEN|TCLLIBPATH|MISE_.*|ASDF_.*|COMPOSE_(ENV_)?FILES?|DOCKER_CONFIG|PSQLRC|TOX_CONFIG_FILE|DOTNET_STARTUP_HOOKS|GO(FLAGS|ROOT|PATH)|LUA_INIT.*|YARN_.*|RUSTC_WRAPPER|BUNDLE_GEMFILE|PIPENV_PIPFILE|JUST_JUSTFILE|VIMINIT|CLOUDSDK_PYTHON|PROMPT_COMMAND|KUBECONFIG|AWS_CONFIG_FILE)$/;

/** Some of these say which environment a shell is in, or belong to tools: no kernel takes code by them as it starts. */
const shellVariables =
  /^(VIRTUAL_ENV|CONDA_PREFIX|(PYENV|MISE|ASDF|UV|PIP|GIT|CARGO|YARN)_.*|MAKEFILES|MAKEFLAGS|(NPM|npm)_.*|COMPOSE_.*|DOCKER_CONFIG|PSQLRC|TOX_CONFIG_FILE|GO(FLAGS|ROOT|PATH)|RUSTC_WRAPPER|BUNDLE_GEMFILE|PIPENV_PIPFILE|JUST_JUSTFILE|VIMINIT|CLOUDSDK_PYTHON|PROMPT_COMMAND|KUBECONFIG|AWS_CONFIG_FILE)$/;

/**
 * The paths of what a start may run, as far as its words and variables name it: programs and the interpreters of scripts, modules, what options
 * take code from, what the words of a shell script are, where a Python takes modules from. What an interpreter, a wrapper or an option takes as
 * code is code by whatever name; any other word is data if it leads to a folder, or if its suffix is that of data, whatever is there at the moment.
 */
export function findCodePlaces({ argv, env, cwd, findProgram, given = [] }: CodeStart): string[] {
  const around = { ...surroundings(variablesIn(env), given, cwd), findProgram };
  const ofIpython = env.IPYTHONDIR ? findIpythonPlaces(env) : [];
  const named = [...placesOfCommand(argv, around), ...placesOfVariables(env, around), ...ofIpython];
  const places = [...new Set(named.flatMap((path) => [path, ...findBehindShim(path)]))];
  const ofPython = { HOME: process.env.HOME, PYTHONUSERBASE: process.env.PYTHONUSERBASE, ...env };
  return [...places, ...places.filter(isPython).flatMap((python) => findImportPlaces(python, ofPython))];
}

/** As `findCodePlaces`, of what a kernel inherits, whatever its words are: variables that name code, and IPython's own folder. */
export function findInheritedPlaces(env: Readonly<Record<string, string | undefined>>, cwd: string): string[] {
  const inherited = Object.entries(toTexts(env)).filter(([name]) => codeVariables.test(name) && !shellVariables.test(name));
  const around = surroundings(variablesIn({}), [], cwd);
  return [...placesOfVariables(Object.fromEntries(inherited), around), ...findIpythonPlaces(env)];
}

function surroundings(lookUp: VariableLookUp, given: readonly string[], cwd: string): Surroundings {
  return { lookUp, given, folders: [cwd], searched: [], depth: 0, scope: '', followed: new Map() };
}

function within(
  around: Surroundings,
  { variables, folders, searched }: Folders & { variables: Readonly<Record<string, string>> },
): Surroundings {
  const changed = Object.entries(variables).filter(([name, value]) => around.lookUp(name) !== value);
  // Folders are only ever added.
  const isSame = changed.length + folders.length + searched.length === around.folders.length + around.searched.length;
  if (isSame) return around;
  const hash = createHash('sha256').update(JSON.stringify([around.scope, changed, folders, searched]));
  return { ...around, folders, searched, scope: hash.digest('base64'), lookUp: variablesIn(Object.fromEntries(changed), around.lookUp) };
}

/** Whether nobody followed it yet, from so near that as much of it was seen. */
function isNew(argv: readonly string[], { scope, depth, followed }: Surroundings): boolean {
  const key = JSON.stringify([scope, argv]);
  if (depth > mostDepth || (followed.get(key) ?? Number.POSITIVE_INFINITY) <= depth) return false;
  followed.set(key, depth);
  return true;
}

function placesOfCommand(argv: readonly string[], around: Surroundings): string[] {
  if (!isNew(argv, around)) return [];
  const words = expand(argv, around.lookUp);
  const loose = words.flatMap(fragmentsOf);
  const parts = [...new Set([...words.filter((word) => !word.includes('\n')), ...loose].flatMap(partsOf))];
  const own = assignmentsIn(words);
  const isContained = words.some(isEngine);
  // A word that names a folder above may be where a wrapper goes first, by whatever option.
  const above = parts.filter(
    (part) => isAbsolute(part) && around.given.some((folder) => isWithin(dirname(folder), part.replace(/\/+$/, '') || sep)),
  );
  const folders = [...new Set([...foldersIn(loose, around.folders), ...above])];
  const searched = searchedWith(own.PATH, around);
  const set = { ...within(around, { variables: own, folders, searched }), depth: around.depth + 1 };
  const inside = { ...set, lookUp: around.lookUp };
  const { started, read } = runsOf(words);
  const programs = [words[0] ?? '', ...started, ...loose.filter(isPython)].flatMap((word) => programsNamed(word, inside));
  const interpreters = loose.flatMap((word, index) => (programKindOf(word) === 'interpreter' ? [index] : []));
  const options = [...valuesOfOptions(words), ...valuesOfOptions(loose)].flatMap((value) => [...partsOf(value), ...looseWordsOf(value)]);
  const named = [...started, ...read, ...runsOf(loose, interpreters).read].flatMap((word) =>
    word.startsWith('-') ? partsOf(word) : [word, ...sourcesOf(word)],
  );
  const code = [...named, ...options, ...options.flatMap(sourcesOf)].flatMap((word) => pathsNamed(word, folders));
  return [
    ...programs,
    // Node adds the suffix itself.
    ...code.flatMap((path) => [path, `${path}.js`]),
    ...parts.flatMap((word) =>
      toPaths(word, folders).filter((path) => isCodeFile(path, hasPathSign(word)) && !(isContained && isVolume(path))),
    ),
    ...above.flatMap((root) => parts.filter(isAbsolute).map((word) => `${root}${word}`)).filter((path) => isCodeFile(path, true)),
    ...modulesOf(modulesIn(loose), set),
    ...placesOfVariables(own, inside, true),
    ...placesOfTexts(words, set),
    ...words.flatMap((word) => foldersHiddenIn(word, around.given)),
    // Which one of its words is the text is known to the shell: options may stand in between.
    ...(words.some(isShell) ? words.filter((word) => /\s/.test(word) && !isPlainShellText(word)) : []).flatMap((text) =>
      foldersNamedBy(text, around.given),
    ),
    ...shellScriptsOf(words).flatMap((script) => placesOfScripts(script, words, set)),
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
        ? placesOfCode(word, words.slice(index + 1), around)
        : [...placesOfShell(word, words, index + 1, around), ...placesComputed(word, around), ...placesOfWhere(word, around)];
    if (programKindOf(word) === 'interpreter') interpreter = word;
    return places;
  });
}

/** The words that follow may be code, too: such a text does with them as it likes. */
function placesOfCode(text: string, following: readonly string[], around: Surroundings): string[] {
  const imported = [...text.matchAll(/\b(?:from|import)\s+([\w.]+(?:\s+as\s+\w+)?(?:\s*,\s*[\w.]+(?:\s+as\s+\w+)?)*)/g)].flatMap(
    ([, names = '']) => names.split(/\s*,\s*/).map((name) => name.replace(/\s.*$/s, '')),
  );
  const others = following.flatMap(partsOf).filter((word) => !hasDataSuffix(word));
  return [
    ...[...looseWordsOf(text), ...others].flatMap((word) => pathsNamed(word, around.folders)),
    ...modulesOf(imported, around),
    ...foldersNamedBy(expand([text], around.lookUp)[0] ?? '', around.given),
  ];
}

/** A text that computes its paths may mean what lies where it begins. */
function placesOfWhere(text: string, { folders, given }: Surroundings): string[] {
  if (given.length === 0 || isPlainShellText(text)) return [];
  return given.filter((folder) => folders.some((at) => at === dirname(folder) || isWithin(at, folder)));
}

/** A script of a shell is a command line in a file. In one that is longer than anybody writes by hand only the folder's path is looked for. */
function placesOfScripts(script: string, words: readonly string[], around: Surroundings): string[] {
  if (around.depth > mostDepth) return [];
  return pathsNamed(script, around.folders).flatMap((path) => {
    // A shell takes no notice of zeros.
    const text = readSmallFile(path)?.replaceAll('\0', '');
    if (text === undefined) return foldersNamedBy(readHead(path, mostScript) ?? '', around.given);
    // An installed program knows nothing of the folder in which it happens to begin.
    const anywhere: VariableLookUp = (name) => (name === 'PWD' ? undefined : around.lookUp(name));
    return [...placesOfShell(text, words, words.indexOf(script), around), ...placesComputed(text, { ...around, lookUp: anywhere })];
  });
}

function placesComputed(text: string, { lookUp, given }: Surroundings): string[] {
  return isPlainShellText(text) ? [] : foldersNamedBy(expand([text], lookUp)[0] ?? '', given);
}

/** `first`: where in the words the parameters begin, with `$0`. */
function placesOfShell(text: string, words: readonly string[], first: number, around: Surroundings): string[] {
  // On lines of their own, so that no two of them are taken for one path.
  const parameterOf = (which: string) => (/\d/.test(which) ? (words[first + Number(which)] ?? '') : words.slice(first + 1).join('\n'));
  const PWD = around.folders[0] ?? '';
  const { commands, variables } = parseShellText(text.replace(/^\s*#.*$/gm, ''), variablesIn({ PWD }, around.lookUp), parameterOf);
  const inside = within(around, {
    variables: { PWD, ...variables },
    folders: foldersIn(commands.flat(), around.folders),
    searched: searchedWith(variables.PATH, around),
  });
  return [...placesOfVariables(variables, inside, true), ...commands.flatMap((command) => placesOfCommand(command, inside))];
}

function programsNamed(word: string, { folders, searched, findProgram }: Surroundings): string[] {
  if (/[\\/]/.test(word)) return toPaths(word, folders);
  const found = word === '' ? undefined : findProgram?.(word);
  return [...(found === undefined ? [] : [found]), ...searched.map((entry) => `${entry}${sep}${word}`)];
}

function searchedWith(path: string | undefined, { searched }: Surroundings): string[] {
  return [...new Set([...searched, ...(path ?? '').split(delimiter).filter(isAbsolute)])].slice(0, mostSearched);
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

/** `-m proj.mod` and `proj.mod:app`; and for a Python whatever has the form of one, as other modules take it. */
function modulesIn(words: readonly string[]): string[] {
  const named = words.flatMap((word, index) =>
    /^-[a-z]*m$/i.test(words[index - 1] ?? '') ? [word] : (/^-m(\w.*)$/.exec(word)?.slice(1) ?? []),
  );
  const dotted = words.some(isPython) ? words.flatMap((word) => word.match(/(?<![\w./])[a-z_]\w*(\.\w+)+(?![\w/])/gi) ?? []) : [];
  return [...named, ...words.filter((word) => /^\w+(\.\w+)*:\w+$/.test(word)), ...dotted].map((word) => word.replace(/:.*$/, ''));
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
    const isPath = name === 'PATH';
    const isCode = isPath ? isOwn : codeVariables.test(name);
    if (isPath && !isOwn) return [];
    const words = isCode ? looseWordsOf(value) : fragmentsOf(value);
    const parts = [...new Set([value, ...value.split(delimiter), ...words.flatMap(partsOf), ...valuesOfOptions(words)].filter(Boolean))];
    if (!isCode) return parts.flatMap((part) => toPaths(part, around.folders).filter((path) => isCodeFile(path, isAbsolute(part))));
    const isList = /(PATH|LIB)$/.test(name);
    return [
      ...[...parts, ...unescapedWordsOf(value)].flatMap((part) =>
        isList ? toPaths(part, around.folders) : pathsNamed(part, around.folders),
      ),
      // A shell reads it, if something is quoted or computed in it.
      ...(/[$`\\"'*?{]/.test(value) ? foldersNamedBy(value, around.given) : []),
    ];
  });
}

function unescapedWordsOf(value: string): string[] {
  return value.includes('\\') ? looseWordsOf(value.replace(/\\(.)/gs, '$1')) : [];
}

/** A word without a sign of a path may be any name, unless such a folder or file is there. */
function pathsNamed(word: string, folders: readonly string[]): string[] {
  const paths = toPaths(word, folders);
  return hasPathSign(word) ? paths : paths.filter((path) => statOf(path) !== undefined);
}

function hasPathSign(word: string): boolean {
  return /[\\/]|^\.\.?$/.test(word);
}

/** Not made shorter: what `..` means behind a link is known to whoever follows the path. */
function toPaths(word: string, folders: readonly string[]): string[] {
  const plain = word.replace(/^file:(\/\/)?/i, '').replace(/^@(?=\/)/, '');
  const [ownFolder, below = ''] = /^\/proc\/(?:thread-)?self\/cwd(\/.*)?$/s.exec(plain) ?? [];
  // Means the folder of whoever is started, and not that of this process.
  if (ownFolder !== undefined) return folders.map((folder) => folder + below);
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
