import { hash } from 'node:crypto';
import { ExactNumber } from '../util/exact-json.js';

/** Arguments above this are hashed by their first part only. UTF-16 units of the canonical JSON. */
const maxHashed = 65_536;

export interface ArgumentHash {
  field: 'args_sha256' | 'args_sha256_of_first_64k';
  sha256: string;
}

/**
 * The audit's field for the arguments of a call: enough to prove what was sent, too little to read it. The SHA-256 is that of the
 * arguments as JSON with sorted keys and no spaces (RFC 8785 but for odd numbers, which stay as they were sent), UTF-8. Of arguments
 * above 64 Ki UTF-16 units only the first so many are hashed, and the field is named so. Nothing for a call without arguments.
 */
export function toArgumentHash(args: unknown): ArgumentHash | undefined {
  if (args === undefined || args === null) return undefined;
  const printer = { text: '' };
  // Nearly all arguments: the engine prints them as they are to be printed.
  if (isSmallAndSorted(args, { nodes: 0 })) printer.text = JSON.stringify(args);
  else print(args, printer);
  if (printer.text.length <= maxHashed) return { field: 'args_sha256', sha256: hash('sha256', printer.text, 'hex') };
  return { field: 'args_sha256_of_first_64k', sha256: hash('sha256', printer.text.slice(0, maxHashed), 'hex') };
}

function isSmallAndSorted(value: unknown, walk: { nodes: number }): boolean {
  if (++walk.nodes > 100) return false;
  if (typeof value === 'string') return value.length < 4096;
  if (typeof value !== 'object' || value === null) return true;
  if (value instanceof ExactNumber) return false;
  if (Array.isArray(value)) return value.every((item) => isSmallAndSorted(item, walk));
  let before = '';
  for (const key in value) {
    if (key < before || !isSmallAndSorted((value as Record<string, unknown>)[key], walk)) return false;
    before = key;
  }
  return true;
}

/** Prints until enough is there for the hash; so a huge value costs no more than a large one. */
function print(value: unknown, printer: { text: string }): void {
  if (printer.text.length > maxHashed) return;
  if (typeof value === 'string') printer.text += JSON.stringify(value.length > maxHashed ? value.slice(0, maxHashed) : value);
  else if (value instanceof ExactNumber) printer.text += value.source;
  else if (Array.isArray(value)) printArray(value, printer);
  else if (typeof value === 'object' && value !== null) printObject(value as Record<string, unknown>, printer);
  else printer.text += JSON.stringify(value) ?? 'null';
}

function printArray(items: readonly unknown[], printer: { text: string }): void {
  printer.text += '[';
  for (let index = 0; index < items.length && printer.text.length <= maxHashed; index++) {
    if (index > 0) printer.text += ',';
    print(items[index], printer);
  }
  printer.text += ']';
}

function printObject(members: Record<string, unknown>, printer: { text: string }): void {
  const keys = Object.keys(members);
  if (keys.length > 1) keys.sort();
  printer.text += '{';
  let separator = '';
  for (const key of keys) {
    if (printer.text.length > maxHashed) break;
    // What JSON leaves out.
    if (members[key] === undefined) continue;
    printer.text += `${separator}${JSON.stringify(key)}:`;
    print(members[key], printer);
    separator = ',';
  }
  printer.text += '}';
}
