import { hash } from 'node:crypto';
import { ExactNumber } from '@notebridge/kit/json';

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
  // Nearly all arguments: the engine prints them as they are to be printed.
  const text = isSmallAndSorted(args, { nodes: 0 }) ? JSON.stringify(args) : print(args);
  if (text.length <= maxHashed) return { field: 'args_sha256', sha256: hash('sha256', text, 'hex') };
  return { field: 'args_sha256_of_first_64k', sha256: hash('sha256', text.slice(0, maxHashed), 'hex') };
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

/** A list or an object that is being printed. */
interface Open {
  /** Undefined for a list. */
  keys: string[] | undefined;
  values: readonly unknown[];
  /** How many of them are printed. */
  printed: number;
}

/**
 * Prints until enough is there for the hash; so a huge value costs no more than a large one. Without recursion: a caller who nests
 * deeper than the stack must not get out of the audit.
 */
function print(root: unknown): string {
  const open: Open[] = [];
  let text = '';
  const begin = (value: unknown): void => {
    if (typeof value === 'object' && value !== null && !(value instanceof ExactNumber)) {
      open.push(toOpen(value));
      text += Array.isArray(value) ? '[' : '{';
    } else text += printPlain(value);
  };
  begin(root);
  for (let top = open.at(-1); top !== undefined && text.length <= maxHashed; top = open.at(-1)) {
    const { keys, values } = top;
    if (top.printed === values.length) {
      open.pop();
      text += keys === undefined ? ']' : '}';
      continue;
    }
    const index = top.printed++;
    if (index > 0) text += ',';
    if (keys !== undefined) text += `${JSON.stringify(keys[index])}:`;
    begin(values[index]);
  }
  return text;
}

function toOpen(value: object): Open {
  if (Array.isArray(value)) return { keys: undefined, values: value, printed: 0 };
  const members = value as Record<string, unknown>;
  // What JSON leaves out.
  const keys = Object.keys(members).filter((key) => members[key] !== undefined);
  if (keys.length > 1) keys.sort();
  return { keys, values: keys.map((key) => members[key]), printed: 0 };
}

function printPlain(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > maxHashed ? value.slice(0, maxHashed) : value);
  return value instanceof ExactNumber ? value.source : (JSON.stringify(value) ?? 'null');
}
