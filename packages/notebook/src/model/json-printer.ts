import { ExactNumber, type JsonObject } from '@notebridge/protocol/json';
import { keysOf } from './json.js';

/** How JSON is written. */
export interface JsonStyle {
  /** What each level is indented by; undefined: all in one line. */
  readonly indent: string | undefined;
  /** What follows a value before the next one, without the line break. */
  readonly comma: string;
  /** What stands between a key and its value. */
  readonly colon: string;
  readonly quote: (text: string) => string;
}

/** As Python's `json.dumps(value, indent=1, ensure_ascii=False, separators=(",", ": "))`, which is how nbformat writes notebooks. */
export const nbformatStyle: JsonStyle = { indent: ' ', comma: ',', colon: ': ', quote: (text) => JSON.stringify(text) };

/** Prints a value; keys stay in the order that they have. `lineBreak` carries the indentation of the line in which the value begins. */
export function printNotebookJson(value: unknown, style: JsonStyle = nbformatStyle, lineBreak = '\n'): string {
  const parts: string[] = [];
  print(value, style, style.indent === undefined ? '' : lineBreak, parts);
  return parts.join('');
}

/** Strings are collected, because joining once is cheaper than adding up. */
function print(value: unknown, style: JsonStyle, lineBreak: string, parts: string[]): void {
  if (typeof value === 'string') parts.push(style.quote(value));
  else if (value instanceof ExactNumber) parts.push(value.source);
  else if (Array.isArray(value)) printArray(value, style, lineBreak, parts);
  else if (typeof value === 'object' && value !== null) printObject(value as JsonObject, style, lineBreak, parts);
  else parts.push(printScalar(value));
}

function printArray(items: readonly unknown[], style: JsonStyle, lineBreak: string, parts: string[]): void {
  if (items.length === 0) {
    parts.push('[]');
    return;
  }
  const inner = lineBreak + (style.indent ?? '');
  items.forEach((item, index) => {
    parts.push(index === 0 ? '[' : style.comma, inner);
    print(item, style, inner, parts);
  });
  parts.push(lineBreak, ']');
}

function printObject(object: JsonObject, style: JsonStyle, lineBreak: string, parts: string[]): void {
  const keys = keysOf(object).filter((key) => object[key] !== undefined);
  if (keys.length === 0) {
    parts.push('{}');
    return;
  }
  const inner = lineBreak + (style.indent ?? '');
  keys.forEach((key, index) => {
    parts.push(index === 0 ? '{' : style.comma, inner, style.quote(key), style.colon);
    print(object[key], style, inner, parts);
  });
  parts.push(lineBreak, '}');
}

/** A number that JSON does not have is written as Python writes it. */
function printScalar(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  return JSON.stringify(value) ?? 'null';
}
