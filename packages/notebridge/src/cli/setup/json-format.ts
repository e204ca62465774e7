import { isJsonObject } from '@notebridge/protocol/json';
import { lineEndOf } from '@notebridge/protocol/util/text-position';
import { createScanner, findNodeAtLocation, type Node, parseTree, visit } from 'jsonc-parser';
import { faultyFile } from '../../config/fault.js';
import { parseJsonDocument } from '../../config/json-document.js';
import { entryName, type HostFormat, misfit } from './merge.js';

/** JSON, with comments and trailing commas. */
export const jsonFormat: HostFormat = {
  parse: (text, file) => {
    const parsed = parseJsonDocument(written(text));
    if ('faults' in parsed) throw faultyFile(file, parsed.faults);
    return parsed.document.value;
  },
  edit: (text, { change, keys }, request) => {
    const { container, entry } = request;
    const place = [...container, entryName];
    const before = written(text);
    const after =
      change === 'added'
        ? setInJson(before, place, entry)
        : Object.entries(keys).reduce((edited, [key, value]) => setInJson(edited, [...place, key], value), before);
    if (countComments(after) >= countComments(before)) return after;
    throw misfit(
      request,
      `has comments inside the "command" or "args" of "${entryName}", which would be lost`,
      `Write "args": ${JSON.stringify(entry.args)} there by hand`,
    );
  },
};

/** A file with nothing in it is one without a server. */
function written(text: string): string {
  return text.trim() === '' ? '{}\n' : text;
}

/** A value that is replaced takes the comments inside it along. */
function countComments(text: string): number {
  let count = 0;
  visit(text, { onComment: () => void count++ });
  return count;
}

/**
 * Sets one value in the text of a JSON file and leaves every other byte alone, comments and spacing included. Missing objects on
 * the way are made. (`modify` of jsonc-parser reformats the neighbours of what it inserts, and moves their comments.) The text
 * must parse, and hold objects along the path.
 */
export function setInJson(text: string, path: readonly string[], value: unknown): string {
  const root = parseTree(text, [], { allowTrailingComma: true });
  if (root === undefined) return text;
  const old = findNodeAtLocation(root, [...path]);
  if (old !== undefined) return splice(text, { at: old.offset, remove: old.length, insert: toInline(value) });
  const depth = path.findIndex((_, index) => findNodeAtLocation(root, path.slice(0, index + 1)) === undefined);
  const parent = findNodeAtLocation(root, path.slice(0, depth)) ?? root;
  const missing = path.slice(depth + 1).reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
  const last = parent.children?.at(-1);
  const property = { key: path[depth] ?? '', value: missing };
  return last === undefined ? fillObject(text, parent, property) : appendProperty(text, parent, { ...property, last });
}

interface Property {
  key: string;
  value: unknown;
}

/** Puts the first property into an object, which may hold comments. */
function fillObject(text: string, object: Node, property: Property): string {
  const end = object.offset + object.length - 1;
  const at = text.slice(0, end).trimEnd().length;
  const outer = indentAt(text, object.offset);
  const closing = text.slice(at, end).includes('\n') ? '' : lineEndOf(text) + outer;
  return splice(text, { at, insert: toLines(text, outer + indentUnit(text), property) + closing });
}

/** Adds a property behind the last one and its comment; on the same line if the whole object stands on one. */
function appendProperty(text: string, object: Node, { last, ...property }: Property & { last: Node }): string {
  const end = object.offset + object.length - 1;
  const lastEnd = last.offset + last.length;
  const at = text.slice(0, end).trimEnd().length;
  const trailingComma = firstSign(text.slice(lastEnd, end)) === ',';
  const onOneLine = !text.slice(object.offset, end).includes('\n');
  const lines = onOneLine
    ? ` ${JSON.stringify(property.key)}: ${toInline(property.value)}`
    : toLines(text, indentAt(text, last.offset), property);
  const inserted = splice(text, { at, insert: trailingComma ? `${lines},` : lines });
  return trailingComma ? inserted : splice(inserted, { at: lastEnd, insert: ',' });
}

function toLines(text: string, indent: string, { key, value }: Property): string {
  const property = `\n${JSON.stringify(key)}: ${JSON.stringify(value, undefined, indentUnit(text))}`;
  return property.replaceAll('\n', lineEndOf(text) + indent);
}

function toInline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toInline).join(', ')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([key, item]) => `${JSON.stringify(key)}: ${toInline(item)}`)
    .join(', ')} }`;
}

/** The first sign of a text that is neither space nor comment. */
function firstSign(text: string): string {
  const scanner = createScanner(text, true);
  scanner.scan();
  return text.charAt(scanner.getTokenOffset());
}

/** The white space that the line of an offset begins with. */
function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1))?.[0] ?? '';
}

/** One step of indenting, by the first indented line with a key; two spaces if there is none. */
function indentUnit(text: string): string {
  return /^([ \t]+)"/m.exec(text)?.[1] ?? '  ';
}

function splice(text: string, { at, remove = 0, insert }: { at: number; remove?: number; insert: string }): string {
  return text.slice(0, at) + insert + text.slice(at + remove);
}
