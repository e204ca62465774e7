import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { lineEndOf } from '@notebridge/protocol/util/text-position';
import { parse, stringify, TomlError } from 'smol-toml';
import { faultyFile } from '../../config/fault.js';
import { entryName, type HostFormat, type MergeRequest } from './merge.js';

/** TOML, edited by lines. */
export const tomlFormat: HostFormat = {
  parse: (text, file) => {
    try {
      return parse(text, { integersAsBigInt: 'asNeeded' });
    } catch (error) {
      if (!(error instanceof TomlError)) throw error;
      const found = `is not TOML: ${(error.message.split('\n', 1)[0] ?? '').replace('Invalid TOML document: ', '')}`;
      throw faultyFile(file, [{ line: error.line, column: error.column, key: '', found, next: 'Fix it there; nothing was changed.' }]);
    }
  },
  edit: (text, { change, keys }, request) => (change === 'added' ? appendTable(text, request) : updateKeys(text, request, keys)),
};

/** A table at the end of the file belongs to no other, whatever stands above. */
function appendTable(text: string, { container, entry }: MergeRequest): string {
  const eol = lineEndOf(text);
  const table = withEol(stringify(container.reduceRight<JsonObject>((inner, key) => ({ [key]: inner }), { [entryName]: entry })), eol);
  if (text.trim() === '') return table;
  return `${text}${text.endsWith('\n') ? '' : eol}${eol}${table}`;
}

/** Rewrites single keys of our own table; a text without such a table comes back as it is, and fails the check. */
function updateKeys(text: string, request: MergeRequest, keys: JsonObject): string {
  const lines = text.split(/(?<=\n)/);
  const header = lines.findIndex((line) => isHeaderOf(line, request));
  if (header < 0) return text;
  for (const [key, value] of Object.entries(keys)) {
    const place = findKey(lines, header, key);
    const line = withEol(stringify({ [key]: value }), lineEndOf(text));
    if (place === undefined) lines.splice(header + 1, 0, line);
    else {
      const comments = commentsIn(lines.slice(place.from, place.from + place.count), lineEndOf(text));
      lines.splice(place.from, place.count, `${comments.join('')}${line}`);
    }
  }
  return lines.join('');
}

/** The comments of lines that are replaced, each on a line of its own. A `#` in a string is none. */
function commentsIn(lines: readonly string[], eol: string): string[] {
  return lines.flatMap((line) => {
    const at = line.replaceAll(/"(?:[^"\\\n]|\\.)*"|'[^'\n]*'/g, (text) => ' '.repeat(text.length)).indexOf('#');
    return at < 0 ? [] : [`${line.slice(at).trimEnd()}${eol}`];
  });
}

/** True for the line `[container.notebridge]`, however it is quoted and spaced. */
function isHeaderOf(line: string, { container }: MergeRequest): boolean {
  if (!isHeader(line)) return false;
  const servers = container.reduce<unknown>((inner, key) => (isJsonObject(inner) ? inner[key] : undefined), tryParse(line));
  const table = isJsonObject(servers) ? servers[entryName] : undefined;
  return isJsonObject(table) && Object.keys(table).length === 0;
}

function isHeader(line: string): boolean {
  return /^\s*\[/.test(line) && tryParse(line) !== undefined;
}

/** The lines of a key in the table below a header; a value may go over several. */
function findKey(lines: readonly string[], header: number, key: string): { from: number; count: number } | undefined {
  const next = lines.findIndex((line, index) => index > header && isHeader(line));
  const end = next < 0 ? lines.length : next;
  const from = lines.findIndex((line, index) => index > header && index < end && new RegExp(`^\\s*(["']?)${key}\\1\\s*=`).test(line));
  if (from < 0) return undefined;
  for (let count = 1; from + count <= end; count++) {
    if (tryParse(lines.slice(from, from + count).join('')) !== undefined) return { from, count };
  }
  return undefined;
}

function tryParse(text: string): JsonObject | undefined {
  try {
    return parse(text, { integersAsBigInt: 'asNeeded' });
  } catch {
    return undefined;
  }
}

function withEol(text: string, eol: string): string {
  return `${text.trimEnd()}\n`.replaceAll('\n', eol);
}
