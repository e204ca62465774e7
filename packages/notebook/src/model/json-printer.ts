import { ExactNumber, type JsonObject } from '@notebridge/kit/json';
import { keysOf } from './json.js';

/** A value that has been printed before, at the depth where it stands now. */
export class PrintedJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Prints a value as Python's `json.dumps(value, indent=1, ensure_ascii=False, separators=(",", ": "))` does, which is how nbformat
 * writes notebooks; keys stay in the order that they have. `depth` is how many objects and arrays stand around the value.
 */
export function printNotebookJson(value: unknown, depth = 0): string {
  const parts: string[] = [];
  print(value, `\n${' '.repeat(depth)}`, parts);
  return parts.join('');
}

/** `lineBreak` carries the indentation of the level. Strings are collected, because joining once is cheaper than adding up. */
function print(value: unknown, lineBreak: string, parts: string[]): void {
  if (value instanceof ExactNumber) parts.push(value.source);
  else if (value instanceof PrintedJson) parts.push(value.text);
  else if (Array.isArray(value)) printArray(value, lineBreak, parts);
  else if (typeof value === 'object' && value !== null) printObject(value as JsonObject, lineBreak, parts);
  else parts.push(printScalar(value));
}

function printArray(items: readonly unknown[], lineBreak: string, parts: string[]): void {
  if (items.length === 0) {
    parts.push('[]');
    return;
  }
  const inner = `${lineBreak} `;
  items.forEach((item, index) => {
    parts.push(index === 0 ? '[' : ',', inner);
    print(item, inner, parts);
  });
  parts.push(lineBreak, ']');
}

function printObject(object: JsonObject, lineBreak: string, parts: string[]): void {
  const keys = keysOf(object).filter((key) => object[key] !== undefined);
  if (keys.length === 0) {
    parts.push('{}');
    return;
  }
  const inner = `${lineBreak} `;
  keys.forEach((key, index) => {
    parts.push(index === 0 ? '{' : ',', inner, JSON.stringify(key), ': ');
    print(object[key], inner, parts);
  });
  parts.push(lineBreak, '}');
}

/** A number that JSON does not have is written as Python writes it. */
function printScalar(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  return JSON.stringify(value) ?? 'null';
}
