import { BridgeError } from '@notebridge/protocol/core/errors';
import type { JsonObject } from '@notebridge/protocol/json';

export type KeyPath = readonly (string | number)[];

/** One thing wrong in a file: what was found there, and what to do. Both are sentences without a line break. */
export interface Problem {
  path: KeyPath;
  /** What the position points at: the key itself, or the value under it. */
  at: 'key' | 'value';
  /** Completes the sentence that the key path begins: `is "soon", but must be …`. */
  found: string;
  next: string;
}

/** A problem with its place. Lines and columns count from 1, columns in characters as an editor does. */
export interface Fault {
  line: number;
  column: number;
  /** The key path as written to people, empty for the file as a whole. */
  key: string;
  found: string;
  next: string;
}

/** At least one fault. */
export type Faults = readonly [Fault, ...Fault[]];

export function isFilled(faults: readonly Fault[]): faults is Faults {
  return faults.length > 0;
}

/** The error for a file with faults: the first in its message, all in `data.faults`. */
export function faultyFile(file: string, faults: Faults): BridgeError {
  const [first, ...others] = faults;
  return new BridgeError('bad_config', `${describeFault(file, first)}${countMore(others)}`, {
    data: { file, faults: faults.map((fault): JsonObject => ({ ...fault })) },
  });
}

/** The error for a file that could not be read at all. */
export function unreadableFile(file: string, why: { found: string; next: string }): BridgeError {
  return new BridgeError('bad_config', `${file}: The file ${why.found}. ${why.next}`, { data: { file, faults: [{ key: '', ...why }] } });
}

/** One line, file and position first, in the form that editors and terminals make a link of. */
export function describeFault(file: string, fault: Fault): string {
  const subject = fault.key === '' ? 'The file' : `"${fault.key}"`;
  return `${file}:${fault.line}:${fault.column}: ${subject} ${fault.found}. ${fault.next}`;
}

function countMore(others: readonly Fault[]): string {
  if (others.length === 0) return '';
  const lines = [...new Set(others.map((fault) => fault.line))];
  return ` (and ${others.length} more, in ${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')})`;
}

/** A key path as a person would write it: `mcpServers.github.args[0]`, `mcpServers["my server"]`. */
export function writePath(path: KeyPath): string {
  return path.map(writeStep).join('');
}

function writeStep(step: string | number, index: number): string {
  if (typeof step === 'number') return `[${step}]`;
  if (!/^[\w$-]+$/.test(step)) return `[${JSON.stringify(step)}]`;
  return index === 0 ? step : `.${step}`;
}

/** A value in quotes, as short as a message can bear, with its kind where that is not plain. */
export function quoteValue(value: unknown): string {
  if (typeof value === 'string') return shorten(JSON.stringify(value));
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return `"${String(value)}"${typeof value === 'number' ? ' (a number)' : ''}`;
}

/** What a value is, for places where it may be a secret. */
export function kindOfValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return { string: 'a text', number: 'a number', boolean: 'true or false', object: 'an object' }[typeof value as 'object'] ?? typeof value;
}

const longestQuote = 80;

function shorten(quoted: string): string {
  return quoted.length <= longestQuote ? quoted : `${quoted.slice(0, longestQuote)}…"`;
}
