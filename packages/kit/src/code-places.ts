import { type Stats, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, extname, isAbsolute, join, sep } from 'node:path';

/** A command line, and what surrounds it. */
export interface CodeStart {
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Where it begins: relative paths are of there. */
  cwd: string;
}

/** Options, and words of a shell, whose value is code, a place that code is taken from, or settings that name some. */
const codeOptions =
  /^(--(directory|project|prefix|cwd|import|require|loader|experimental-loader|preload|env-file(-if-exists)?|import-map|from|spec|package|with(-editable|-requirements)?|editable|find-links|config-file|userconfig|rcfile|init-file|pythonpath|class-path)|-(C|r|I|cp|classpath)|cd|pushd|source)$/;
/** Each runs a folder that is named to it, as a script or a package. */
const runners =
  /^(node|deno|bun|bunx|tsx|ts-node|npx|npm|pnpm|pnpx|yarn|uvx?|pipx|python[\d.]*|pypy[\d.]*|ruby|perl|php|sh|bash|zsh|fish|dash|go|java)$/;
/** Words of runners that come before the script or the package. */
const verbs = /^(exec|run|run-script|dlx|x|tool|start|test|--)$/;
/** Options without a value, so that the next word is the script or the package. */
const flags =
  /^-(-(yes|quiet|silent|verbose|offline|isolated|refresh|bun|frozen|locked|force|(no|prefer|allow|enable|trace)-.*)|[yqsvAgfuBEISOib]+)$/;
/** Options that a module or the code itself follows: all words after that are its arguments. */
const lastOptions = /^-([a-z]*c|m|e|-eval|-print|-command)$/;

/** Each of these names code for some interpreter or linker, or a folder from which it takes code or settings. */
const codeVariables =
  /^(PYTHON(PATH|HOME|STARTUP|USERBASE|BREAKPOINT|EXECUTABLE)|NODE_(OPTIONS|PATH)|PERL5?(LIB|OPT|DB)|RUBY(LIB|OPT)|GEM_(HOME|PATH)|LD_(PRELOAD|LIBRARY_PATH|AUDIT)|DYLD_.*|BASH_ENV|ENV|ZDOTDIR|HOME|XDG_CONFIG_HOME|IPYTHONDIR|JUPYTER_.*|VIRTUAL_ENV|CONDA_PREFIX|CLASSPATH|(_?JAVA|JDK_JAVA)_.*OPTIONS|LUA_C?PATH|PHPRC|PHP_INI_SCAN_DIR|R_(LIBS.*|PROFILE.*|ENVIRON.*|HOME)|JULIA_(LOAD_PATH|DEPOT_PATH|PROJECT)|(NPM|npm)_(CONFIG|config)_.*|UV_.*|PIP_.*|DENO_.*|BUN_.*)$/;

const codeSuffix =
  /\.(py|pyw|pyc|pyz|pyd|pth|[cm]?[jt]sx?|(ba|z|k|fi|da|c)?sh|rb|pl|pm|php|phar|lua|tcl|r|jl|go|jar|class|wasm|so(\.[\d.]+)?|dylib|dll|exe|bat|cmd|ps1|node|env|toml|cfg|rc)$/i;

/**
 * The paths of what a start runs, as far as its words and variables name them: programs, scripts, modules, what options take code from. A
 * file without a suffix, one that may be run and one with the suffix of a script are code, wherever they are named; other files, and
 * folders, are data, unless a runner or an option takes them as code. The program itself counts where it is a path.
 */
export function findCodePlaces({ argv, env, cwd }: CodeStart): string[] {
  const toPath = (word: string) => toAbsolute(word, cwd);
  const texts = argv.map((word) => expand(word, env));
  const words = texts.flatMap((word) => (/[\s;|&()<>'"`]/.test(word) && !isThere(toPath(word)) ? wordsOf(word) : [word]));
  const program = /[\\/]/.test(texts[0] ?? '') ? [toPath(texts[0] ?? '')] : [];
  const files = [...texts, ...words].flatMap(partsOf).map(toPath).filter(isCodeFile);
  const options = words.flatMap((word, index) => [...(codeOptions.test(word) ? [words[index + 1] ?? ''] : []), ...valuesOfOption(word)]);
  const packages = words.flatMap((word, index) => (runners.test(basename(word)) ? headOf(words.slice(index + 1)) : []));
  const named = [...options, ...packages].filter((word) => word !== '').map(toPath);
  return [...program, ...files, ...named.filter(isThere), ...modulesOf(words, env, cwd), ...variablesOf(env, cwd)];
}

/** As a shell does, and Jupyter for what a kernelspec says. */
function expand(text: string, env: Readonly<Record<string, string>>): string {
  const home = env.HOME ?? homedir();
  const known = text.replace(/\$(?:\{(\w+)\}|(\w+))/g, (whole, one?: string, other?: string) => {
    const name = one ?? other ?? '';
    return env[name] ?? (name === 'HOME' ? home : process.env[name]) ?? whole;
  });
  return known.replace(/(^|[\s=:"'])~(?=\/)/g, (_, before: string) => before + home);
}

/** The words of a text that is code, or a command line of its own: each quoted part as a whole, and all between blanks and signs. */
function wordsOf(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|([^\s;|&()<>,"'`[\]{}]+)/g)].flatMap(([, one, other, plain]) => {
    const word = one ?? other ?? plain ?? '';
    return plain === undefined && /[\s;|&]/.test(word) ? [word, ...wordsOf(word)] : [word];
  });
}

/** A word, and what stands in it behind `=`, `:` or a short option. */
function partsOf(word: string): string[] {
  const behind = [/^[^=]*=(.*)$/s, /^-\w+?([./].*)$/s, /^-\w(.+)$/s].map((form) => form.exec(word)?.[1] ?? '');
  const separate = word.split(/[:=,]/);
  return [word, ...behind, ...(separate.length > 1 ? separate : [])].filter((part) => part !== '' && !part.startsWith('-'));
}

function valuesOfOption(word: string): string[] {
  const [, option = '', value = ''] = /^(--?[\w-]+)=(.*)$/s.exec(word) ?? /^(-[ICr])(.+)$/s.exec(word) ?? [];
  return codeOptions.test(option) ? value.split(delimiter) : [];
}

/** The words that may be the script or the package: each one up to the first that is no option and no value of one. */
function headOf(words: readonly string[]): string[] {
  const head: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? '';
    if (lastOptions.test(word)) return head;
    if (verbs.test(word) || flags.test(word) || (word.startsWith('-') && word.includes('='))) continue;
    if (!word.startsWith('-')) return [...head, word];
    // It may have a value, and the script or the package comes after that.
    const value = words[++index] ?? '';
    if (value.startsWith('-')) index--;
    else head.push(value);
  }
  return head;
}

/** `-m proj.mod` and `proj.mod:app`, where such a module is found from. */
function modulesOf(words: readonly string[], env: Readonly<Record<string, string>>, cwd: string): string[] {
  const named = words.flatMap((word, index) => (words[index - 1] === '-m' ? [word] : (/^-m(\w.*)$/.exec(word)?.slice(1) ?? [])));
  const modules = [...named, ...words.filter((word) => /^\w+(\.\w+)*:\w+$/.test(word))].map((word) => word.replace(/:.*$/, ''));
  const folders = [cwd, ...(env.PYTHONPATH ?? '').split(delimiter).filter(Boolean)].map((folder) => toAbsolute(folder, cwd));
  const paths = modules.flatMap((module) => {
    const parts = module.split('.');
    return parts.map((_, index) => join(...parts.slice(0, index + 1)));
  });
  return folders.flatMap((folder) => paths.flatMap((path) => [join(folder, path), `${join(folder, path)}.py`])).filter(isThere);
}

function variablesOf(env: Readonly<Record<string, string>>, cwd: string): string[] {
  return Object.entries(env).flatMap(([name, text]) => {
    const value = expand(text, env);
    const parts = [value, ...value.split(delimiter), ...wordsOf(value).flatMap((word) => [...partsOf(word), ...valuesOfOption(word)])];
    const named = parts.filter((part) => part !== '');
    const paths = named.filter((part) => isAbsolute(part) || isThere(toAbsolute(part, cwd))).map((part) => toAbsolute(part, cwd));
    return codeVariables.test(name) ? paths : paths.filter(isCodeFile);
  });
}

function isCodeFile(path: string): boolean {
  const name = basename(path);
  if (codeSuffix.test(name)) return !isFolder(path) && isThere(dirname(path));
  const found = statOf(path);
  return found?.isFile() === true && (extname(name) === '' || (found.mode & 0o111) !== 0);
}

/** Not made shorter: what `..` means behind a link is known to whoever follows the path. */
function toAbsolute(word: string, cwd: string): string {
  const path = word.replace(/^file:(\/\/)?/, '');
  return isAbsolute(path) ? path : `${cwd}${sep}${path}`;
}

function isFolder(path: string): boolean {
  return statOf(path)?.isDirectory() === true;
}

function isThere(path: string): boolean {
  return statOf(path) !== undefined;
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // Too long for a name, a zero in it, or below a file.
    return undefined;
  }
}
