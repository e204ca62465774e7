import { readHead } from './small-file.js';

/** A text that a shell runs, as far as its words say it: what it computes (`$(…)`, patterns, loops) is known to the shell alone. */
export interface ShellText {
  /** The words of each of its commands, without quotes. */
  readonly commands: readonly (readonly string[])[];
  /** Its settings (`NAME=value`). */
  readonly variables: Readonly<Record<string, string>>;
}

const assignment = /^(\w+)=(.*)$/s;
/** Words before the program of a command. */
const beforeProgram = /^(exec|command|builtin|eval|time|then|do|else|elif|if|while|until|!|\{|export|local|readonly)$/;

/** The value of a variable of a shell; undefined: it is not known. */
export type VariableLookUp = (name: string) => string | undefined;

/** More than any system takes for one program: what is longer stays as it is written. */
const mostExpanded = 1024 * 1024;

/** `parameterOf`: what `$0`, `$1` and so on, and `$@` stand for. */
export function parseShellText(text: string, lookUp: VariableLookUp, parameterOf: (which: string) => string = () => ''): ShellText {
  const room = { characters: mostExpanded };
  const filled = replaceWithin(room, text, /\$\{?(\d|[@*])\}?/g, ([, which = '']) => parameterOf(which));
  const variables: Record<string, string> = {};
  const known: VariableLookUp = (name) => (Object.hasOwn(variables, name) ? variables[name] : lookUp(name));
  const commands = lex(filled).map((words) => {
    const expanded = words.map((word) => expandWord(room, word, known));
    const first = expanded.findIndex((word) => !beforeProgram.test(word) && !assignment.test(word));
    for (const word of first === -1 ? expanded : expanded.slice(0, first)) {
      const [, name = '', value = ''] = assignment.exec(word) ?? [];
      if (name !== '') variables[name] = value;
    }
    const command = first === -1 ? [] : expanded.slice(first);
    return command[0] === '.' ? ['source', ...command.slice(1)] : command;
  });
  return { commands: commands.filter((words) => words.length > 0), variables };
}

/** Quoted parts without expansions, `$HOME`, `~` and `||`: what they mean is known. */
const plainParts = /'[^']*'|"(?:[^"$`\\]|\$HOME\b|\$\{HOME\})*"|\$HOME\b|\$\{HOME\}|\|\||~(?=[/\s;&]|$)/g;
const computingParts = /['"$`\\*?[\]{}()<|#!~]/;
const computingWords =
  /^(if|then|elif|else|fi|for|while|until|do|done|case|esac|select|function|coproc|time|eval|alias|trap|shift|declare|typeset|local|readonly|export|read|unset|pushd|popd|command|builtin|test|shopt|enable|hash|getopts|mapfile|readarray|printf|let)$/;
const mostSteps = 4;

/** It is a list of simple commands whose words stand there as they are: nothing is computed, and `parseShellText` has understood it all. */
export function isPlainShellText(text: string): boolean {
  // A line that looks like a comment may be one of a word in quotes, behind which more commands stand.
  if (/^\s*#/m.test(text) || computingParts.test(text.replace(plainParts, 'x'))) return false;
  const commands = lex(text)
    .filter((words) => !isExport(words))
    .map((words) => words.filter((word) => !assignment.test(word)));
  const steps = commands.filter(([name]) => name === 'cd');
  return (
    !commands.some(([name = '', ...rest]) => computingWords.test(name) || (name === 'set' && !rest.every(isShellFlag))) &&
    steps.length <= mostSteps &&
    steps.every(([, folder = '', ...more]) => folder !== '' && !folder.startsWith('-') && more.length === 0)
  );
}

/** As in `export NAME=value`, which is an assignment. */
function isExport([name, ...rest]: readonly string[]): boolean {
  return name === 'export' && rest.length > 0 && rest.every((word) => assignment.test(word));
}

/** As in `set -euo pipefail`: it says how the shell goes on, and sets no parameter. */
function isShellFlag(word: string): boolean {
  return /^[-+][a-zA-Z]+$|^(pipefail|posix)$/.test(word);
}

/** `$NAME` and `${NAME}`; what is not known stays. */
export function expandVariables(words: readonly string[], lookUp: VariableLookUp): string[] {
  const room = { characters: mostExpanded };
  return words.map((word) => expandWord(room, word, lookUp));
}

interface Room {
  characters: number;
}

function expandWord(room: Room, word: string, lookUp: VariableLookUp): string {
  return replaceWithin(room, word, /\$(?:\{(\w+)\}|(\w+))/g, ([whole, one, other]) => lookUp(one ?? other ?? '') ?? whole ?? '');
}

function replaceWithin(room: Room, text: string, pattern: RegExp, toValue: (match: readonly (string | undefined)[]) => string): string {
  return text.replace(pattern, (whole: string, ...groups: (string | undefined)[]) => {
    if (room.characters <= 0) return whole;
    const value = toValue([whole, ...groups]);
    room.characters -= value.length;
    return value;
  });
}

/** The commands with which Linux runs a script: its first line names the interpreter, and that of pip goes on to another one where that name is too long. */
export function interpretersOf(path: string): string[][] {
  const head = readHead(path, 1024) ?? '';
  const [first = '', second = ''] = head.split('\n');
  // Without such a line, and being a text, it is run by a shell.
  if (!first.startsWith('#!')) return head === '' || head.includes('\0') ? [] : [['/bin/sh']];
  const { commands } = parseShellText(second.startsWith("'''exec'") ? second : '', () => undefined);
  return [first.slice(2).trim().split(/\s+/), ...commands.map((command) => [...command])];
}

/** The words of each command: parts in quotes belong to the word that they stand in. */
function lex(text: string): string[][] {
  const commands: string[][] = [[]];
  let word: string | undefined;
  const end = () => {
    if (word !== undefined) commands.at(-1)?.push(word);
    word = undefined;
  };
  for (const [token, single, double, escaped] of text.matchAll(/'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)|[\s\S]/g)) {
    const quoted = single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped;
    if (quoted !== undefined) word = (word ?? '') + quoted;
    else if (/[;|&()\n`]/.test(token)) {
      end();
      commands.push([]);
    } else if (/[\s<>]/.test(token)) end();
    else word = (word ?? '') + token;
  }
  end();
  return commands;
}

/** The words of a text of any kind: each quoted part as a whole, and all between blanks and signs. */
export function looseWordsOf(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|([^\s;|&()<>,"'`[\]{}]+)/g)].flatMap(([, one, other, plain]) => {
    const word = one ?? other ?? plain ?? '';
    return plain === undefined && /[\s;|&]/.test(word) ? [word, ...looseWordsOf(word)] : [word];
  });
}
