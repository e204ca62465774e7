import { ExactNumber, isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { keysOf, toPlainNumber } from './json.js';
import type { JsonPath } from './json-reader.js';

/** A place that breaks the schema. `isMissing` faults stand at the object that lacks the key. */
export class SchemaFault extends Error {
  readonly path: JsonPath;

  constructor(path: JsonPath, message: string) {
    super(message);
    this.name = 'SchemaFault';
    this.path = path;
  }
}

/** Throws `SchemaFault` for a value that breaks a rule. */
export type SchemaCheck = (value: unknown, path: JsonPath) => void;

export interface ObjectRules {
  required?: readonly string[];
  /** Checks by key. */
  keys?: { readonly [key: string]: SchemaCheck };
  /** What other keys have to be; `false` forbids them. */
  others?: SchemaCheck | false;
}

export const anything: SchemaCheck = () => {};

export const string: SchemaCheck = (value, path) => {
  if (typeof value !== 'string') throw wanted('a string', value, path);
};

export const boolean: SchemaCheck = (value, path) => {
  if (typeof value !== 'boolean') throw wanted('true or false', value, path);
};

export const anyObject: SchemaCheck = (value, path) => {
  if (!isJsonObject(value)) throw wanted('an object', value, path);
};

export function object(rules: ObjectRules): SchemaCheck {
  return (value, path) => {
    if (!isJsonObject(value)) throw wanted('an object', value, path);
    const missing = rules.required?.find((key) => !Object.hasOwn(value, key));
    if (missing !== undefined) throw new SchemaFault(path, `lacks "${missing}"`);
    for (const key of keysOf(value)) checkMember(rules, value, key, path);
  };
}

export function arrayOf(item: SchemaCheck): SchemaCheck {
  return (value, path) => {
    if (!Array.isArray(value)) throw wanted('a list', value, path);
    value.forEach((member, index) => {
      item(member, [...path, index]);
    });
  };
}

/** A string that matches; `meaning` is what the message asks for. */
export function stringLike(pattern: RegExp, meaning: string): SchemaCheck {
  return (value, path) => {
    if (typeof value !== 'string' || !pattern.test(value)) throw wanted(meaning, value, path);
  };
}

export function integer({ min, nullable = false }: { min: number; nullable?: boolean }): SchemaCheck {
  return (value, path) => {
    const number = toPlainNumber(value);
    if ((value === null && nullable) || (Number.isSafeInteger(number) && (number as number) >= min)) return;
    throw wanted(`an integer of ${min} or more${nullable ? ', or null' : ''}`, value, path);
  };
}

export function oneOf(values: readonly unknown[]): SchemaCheck {
  return (value, path) => {
    if (!values.includes(toPlainNumber(value)))
      throw wanted(`one of ${values.map((allowed) => JSON.stringify(allowed)).join(', ')}`, value, path);
  };
}

/** One of two kinds; `meaning` names both. */
export function either(first: SchemaCheck, second: SchemaCheck, meaning: string): SchemaCheck {
  return (value, path) => {
    if (!passes(first, value, path) && !passes(second, value, path)) throw wanted(meaning, value, path);
  };
}

export function wanted(what: string, found: unknown, path: JsonPath): SchemaFault {
  return new SchemaFault(path, `has to be ${what}, and is ${describeValue(found)}`);
}

const maxQuoted = 60;

/** An outside value as a message shows it, cut short. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'not there';
  if (value instanceof ExactNumber) return value.source;
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(value);
  return text.length > maxQuoted ? `${text.slice(0, maxQuoted)}…` : text;
}

function checkMember(rules: ObjectRules, value: JsonObject, key: string, path: JsonPath): void {
  const check = rules.keys && Object.hasOwn(rules.keys, key) ? rules.keys[key] : rules.others;
  if (check === false) throw new SchemaFault([...path, key], 'is a key that nbformat does not allow there');
  check?.(value[key], [...path, key]);
}

function passes(check: SchemaCheck, value: unknown, path: JsonPath): boolean {
  try {
    check(value, path);
    return true;
  } catch (error) {
    if (error instanceof SchemaFault) return false;
    throw error;
  }
}
