import type { JsonObject } from '@notebridge/protocol/json';
import { appendAll } from '@notebridge/protocol/util/long-lists';
import { type PythonToken, toPythonTokens } from './python-tokens.js';
import type { SkillScript } from './skill-files.js';
import type { Skill } from './skill-finder.js';

const longestScript = 131_072;
/** Scripts are read on the main thread, and anyone may have put them there. */
const mostBytes = 2_097_152;

/** What a script says of itself, in the words of the reference's list. What it does not say is left out, but for the description. */
export type ScriptDescription = JsonObject & {
  /** One line; empty if it says nothing. */
  description: string;
  /** What stands on its command line: of its `argparse`, else of its first public function. */
  parameters?: ScriptParameter[];
  returns?: string;
  usage?: string;
  /** Environment variables. */
  env_vars?: string[];
};

type ScriptParameter = JsonObject & { name: string; type?: string; description?: string; choices?: string; required?: true };

/** Reads what Python scripts say of themselves, for one list: those past its bounds have no description. */
export class ScriptReader {
  #left = mostBytes;

  /** One for each script, in their order. */
  async describe({ folder }: Skill, scripts: readonly SkillScript[]): Promise<ScriptDescription[]> {
    const described: ScriptDescription[] = [];
    for (const { path } of scripts) {
      const isRead = path.toLowerCase().endsWith('.py') && this.#left > 0;
      const read = isRead ? await folder.read(path, Math.min(longestScript, this.#left)) : undefined;
      if (read?.kind === 'read') this.#left -= read.bytes.length;
      described.push(read?.kind === 'read' ? describeScript(new TextDecoder().decode(read.bytes)) : { description: '' });
    }
    return described;
  }
}

/** Reads what a Python script says of itself, without running it. Never throws. */
export function describeScript(source: string): ScriptDescription {
  const lines = toLines(toPythonTokens(source));
  const doc = toDocLines(docOf(lines[0]));
  const main = findFunction(lines);
  const mainDoc = toDocLines(main?.doc);
  const ofCommandLine = argparseParameters(lines.flatMap(({ tokens }) => tokens));
  const ofDoc = ofCommandLine.length > 0 ? ofCommandLine : docParameters(mainDoc);
  const parameters = ofDoc.length > 0 ? ofDoc : (main?.parameters ?? []);
  const returns = sectionOf(mainDoc, 'Returns')[0]?.trim() ?? main?.returns ?? '';
  const usage = usageIn(doc);
  const variables = sectionOf(doc, 'Environment').flatMap((line) => /^\w+/.exec(line.trim()) ?? []);
  return {
    description: firstText(doc) || firstText(mainDoc),
    ...(parameters.length > 0 && { parameters }),
    ...(returns !== '' && { returns }),
    ...(usage !== '' && { usage }),
    ...(variables.length > 0 && { env_vars: variables }),
  };
}

interface Line {
  column: number;
  tokens: PythonToken[];
}

function toLines(tokens: readonly PythonToken[]): Line[] {
  const lines: Line[] = [];
  for (const token of tokens) {
    if (token.kind === 'line') lines.push({ column: token.column, tokens: [] });
    else lines.at(-1)?.tokens.push(token);
  }
  return lines;
}

/** The text of a line that is nothing but one. */
function docOf(line: Line | undefined): string | undefined {
  const [first, ...more] = line?.tokens ?? [];
  return first?.kind === 'string' && more.length === 0 ? first.value : undefined;
}

/** The first function of the module that is neither private nor a usual helper. */
function findFunction(lines: readonly Line[]) {
  for (const [index, { column, tokens }] of lines.entries()) {
    const words = tokens.map(textOf);
    const at = words[0] === 'async' ? 1 : 0;
    if (column > 0 || words[at] !== 'def' || /^(_|get_|format_|main$)/.test(words[at + 1] ?? '_')) continue;
    const end = closingOf(words, at + 2);
    const [, arrow] = words.slice(end + 1, end + 3);
    const returns = arrow === '>' ? words.slice(end + 3, words.lastIndexOf(':')) : [];
    const parameters = splitAtCommas(tokens.slice(at + 3, end)).flatMap((part) => toParameter(part.map(textOf)));
    const next = lines[index + 1];
    return { parameters, returns: joinType(returns), doc: next !== undefined && next.column > 0 ? docOf(next) : undefined };
  }
  return undefined;
}

/** `name: type = default`; what stands behind `*` is none of a plain call. */
function toParameter(words: readonly string[]): ScriptParameter[] {
  const [name = '', colon, ...rest] = words;
  if (!/^[\p{L}_]/u.test(name) || name === 'self' || name === 'cls') return [];
  const type = colon === ':' ? joinType(rest.includes('=') ? rest.slice(0, rest.indexOf('=')) : rest) : '';
  return [type === '' ? { name } : { name, type }];
}

/** Each `….add_argument(…)`; not those inside another, so that it takes no longer than the source is long. */
function argparseParameters(tokens: readonly PythonToken[]): ScriptParameter[] {
  const words = tokens.map(textOf);
  const parameters: ScriptParameter[] = [];
  for (let at = 1; at < words.length; at++) {
    if (words[at] !== 'add_argument' || words[at - 1] !== '.' || words[at + 1] !== '(') continue;
    const end = closingOf(words, at + 1);
    if (end === words.length) break;
    appendAll(parameters, toArgument(splitAtCommas(tokens.slice(at + 2, end))));
    at = end;
  }
  return parameters;
}

function toArgument(parts: readonly PythonToken[][]): ScriptParameter[] {
  const flags = parts.flatMap(([first, ...more]) => (first?.kind === 'string' && more.length === 0 ? [first.value] : []));
  const flag = flags.find((each) => each.startsWith('--')) ?? flags[0] ?? '';
  const name = flag.replace(/^-+/, '').replaceAll('-', '_');
  if (name === '') return [];
  const options = new Map(
    parts.flatMap(([key, equals, ...value]) => (key && equals && textOf(equals) === '=' ? [[textOf(key), value]] : [])),
  );
  const wordOf = (key: string): string => (options.get(key) ?? []).map(textOf).join('');
  const stringsOf = (key: string): string[] => (options.get(key) ?? []).flatMap((token) => (token.kind === 'string' ? [token.value] : []));
  const [type, description, choices] = [wordOf('type'), stringsOf('help').join(''), stringsOf('choices').join(', ')];
  const isOptional = flag.startsWith('-') ? wordOf('required') !== 'True' : /^["'][?*]/.test(wordOf('nargs'));
  return [
    {
      name,
      ...(type !== '' && { type }),
      ...(description !== '' && { description }),
      ...(choices !== '' && { choices }),
      ...(!isOptional && { required: true as const }),
    },
  ];
}

/** The `name (type): description` lines of a section "Args:". */
function docParameters(doc: readonly string[]): ScriptParameter[] {
  return sectionOf(doc, 'Args').flatMap((line) => {
    const [, name, type = '', description = ''] = /^\s+\*{0,2}(\w+)(?:\s*\(([^)]*)\))?:\s*(\S.*)/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, type, description: description.trim() }];
  });
}

/** The lines below `Title:` that are indented more than it is. */
function sectionOf(doc: readonly string[], title: string): string[] {
  const start = doc.findIndex((line) => line.trim() === `${title}:`);
  const column = indentOf(doc[start] ?? '');
  const below = start < 0 ? [] : doc.slice(start + 1);
  const end = below.findIndex((line) => line.trim() !== '' && indentOf(line) <= column);
  return (end < 0 ? below : below.slice(0, end)).filter((line) => line.trim() !== '');
}

function usageIn(doc: readonly string[]): string {
  const at = doc.findIndex((line) => line.includes('Usage:'));
  const line = doc[at] ?? '';
  return line.slice(line.indexOf('Usage:') + 'Usage:'.length).trim() || firstText(doc.slice(at + 1, at < 0 ? 0 : undefined));
}

function firstText(doc: readonly string[]): string {
  return doc.find((line) => line.trim() !== '')?.trim() ?? '';
}

function toDocLines(doc: string | undefined): string[] {
  return doc?.split('\n') ?? [];
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function textOf(token: PythonToken): string {
  return token.kind === 'line' ? '' : token.text;
}

/** Where the bracket that opens at `start` is closed; the end if it never is. */
function closingOf(words: readonly string[], start: number): number {
  let depth = 0;
  for (let at = start; at < words.length; at++) {
    if ('([{'.includes(words[at] || ' ')) depth++;
    if (')]}'.includes(words[at] || ' ') && --depth === 0) return at;
  }
  return words.length;
}

function splitAtCommas(tokens: readonly PythonToken[]): PythonToken[][] {
  const parts: PythonToken[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    const text = textOf(token) || ' ';
    if ('([{'.includes(text)) depth++;
    if (')]}'.includes(text)) depth--;
    if (text === ',' && depth === 0) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}

/** `list[ dict ]` → `list[dict]`, `str|None` → `str | None`. */
function joinType(words: readonly string[]): string {
  return words.map((each) => (each === ',' ? ', ' : each === '|' ? ' | ' : each)).join('');
}
