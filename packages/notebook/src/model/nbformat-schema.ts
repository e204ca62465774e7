import { ExactNumber, isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { keysOf, toPlainNumber } from './json.js';
import type { JsonPath } from './json-reader.js';
import { isJsonMimeType } from './text.js';

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
type SchemaCheck = (value: unknown, path: JsonPath) => void;

interface ObjectRules {
  required?: readonly string[];
  /** Checks by key. */
  keys?: { readonly [key: string]: SchemaCheck };
  /** What other keys have to be; `false` forbids them. */
  others?: SchemaCheck | false;
}

const anything: SchemaCheck = () => {};

const string: SchemaCheck = (value, path) => {
  if (typeof value !== 'string') throw wanted('a string', value, path);
};

const boolean: SchemaCheck = (value, path) => {
  if (typeof value !== 'boolean') throw wanted('true or false', value, path);
};

const anyObject: SchemaCheck = (value, path) => {
  if (!isJsonObject(value)) throw wanted('an object', value, path);
};

function object(rules: ObjectRules): SchemaCheck {
  return (value, path) => {
    if (!isJsonObject(value)) throw wanted('an object', value, path);
    const missing = rules.required?.find((key) => !Object.hasOwn(value, key));
    if (missing !== undefined) throw new SchemaFault(path, `lacks "${missing}"`);
    for (const key of keysOf(value)) checkMember(rules, value, key, path);
  };
}

function arrayOf(item: SchemaCheck): SchemaCheck {
  return (value, path) => {
    if (!Array.isArray(value)) throw wanted('a list', value, path);
    value.forEach((member, index) => {
      item(member, [...path, index]);
    });
  };
}

/** A string that matches; `meaning` is what the message asks for. */
function stringLike(pattern: RegExp, meaning: string): SchemaCheck {
  return (value, path) => {
    if (typeof value !== 'string' || !pattern.test(value)) throw wanted(meaning, value, path);
  };
}

function integer({ min, nullable = false }: { min: number; nullable?: boolean }): SchemaCheck {
  return (value, path) => {
    const number = toPlainNumber(value);
    if ((value === null && nullable) || (Number.isSafeInteger(number) && (number as number) >= min)) return;
    throw wanted(`an integer of ${min} or more${nullable ? ', or null' : ''}`, value, path);
  };
}

function oneOf(values: readonly unknown[]): SchemaCheck {
  return (value, path) => {
    if (!values.includes(toPlainNumber(value)))
      throw wanted(`one of ${values.map((allowed) => JSON.stringify(allowed)).join(', ')}`, value, path);
  };
}

/** One of two kinds; `meaning` names both. */
function either(first: SchemaCheck, second: SchemaCheck, meaning: string): SchemaCheck {
  return (value, path) => {
    if (!passes(first, value, path) && !passes(second, value, path)) throw wanted(meaning, value, path);
  };
}

function wanted(what: string, found: unknown, path: JsonPath): SchemaFault {
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

/**
 * What Python's `nbformat.validate` checks, from its JSON schema of 4.5 (5.11): the same members, in the same words. A file of a
 * later minor version may have keys that we do not know, as there, and cells of an earlier one have no ids.
 */
export interface NotebookSchema {
  notebook: SchemaCheck;
  cell: SchemaCheck;
  output: SchemaCheck;
}

const multilineString: SchemaCheck = (value, path) => {
  if (typeof value === 'string') return;
  if (!Array.isArray(value)) throw wanted('a string or a list of strings', value, path);
  arrayOf(string)(value, path);
};
const mimeBundle: SchemaCheck = (value, path) => {
  if (!isJsonObject(value)) throw wanted('an object', value, path);
  for (const [type, data] of Object.entries(value)) if (!isJsonMimeType(type)) multilineString(data, [...path, type]);
};

const cellId = stringLike(/^[a-zA-Z0-9-_]{1,64}$/, 'a cell id: 1 to 64 letters, digits, "-" or "_"');
const executionCount = integer({ min: 0, nullable: true });
const uniqueTags: SchemaCheck = (value, path) => {
  arrayOf(stringLike(/^[^,]+$/, 'a tag: a string that is not empty and has no comma'))(value, path);
  if (new Set(value as string[]).size < (value as string[]).length) throw new SchemaFault(path, 'has a tag twice');
};

const commonMetadata = { name: stringLike(/^[^\n]+\n?$/, 'a string of one line, not empty'), tags: uniqueTags, jupyter: anyObject };
const cellMetadata = {
  markdown: object({ keys: commonMetadata }),
  raw: object({ keys: { ...commonMetadata, format: string } }),
  code: object({
    keys: {
      ...commonMetadata,
      execution: object({ others: string }),
      collapsed: boolean,
      scrolled: oneOf([true, false, 'auto']),
    },
  }),
};

const notebookMetadata = object({
  keys: {
    kernelspec: object(allOf({ name: string, display_name: string })),
    language_info: object({
      required: ['name'],
      keys: {
        name: string,
        codemirror_mode: either(string, anyObject, 'a string or an object'),
        file_extension: string,
        mimetype: string,
        pygments_lexer: string,
      },
    }),
    title: string,
    authors: arrayOf(anything),
  },
});

const outputRules: { readonly [type: string]: ObjectRules } = {
  stream: allOf({ output_type: anything, name: string, text: multilineString }),
  display_data: allOf({ output_type: anything, data: mimeBundle, metadata: anyObject }),
  execute_result: allOf({ output_type: anything, data: mimeBundle, metadata: anyObject, execution_count: executionCount }),
  error: allOf({ output_type: anything, ename: string, evalue: string, traceback: arrayOf(string) }),
};

const textCell = { attachments: object({ others: mimeBundle }) };

function cellRules(output: SchemaCheck, hasIds: boolean): { readonly [type: string]: ObjectRules } {
  const base = { ...(hasIds ? { id: cellId } : {}), cell_type: anything, source: multilineString };
  const required = [...(hasIds ? ['id'] : []), 'cell_type', 'metadata', 'source'];
  return {
    markdown: { required, keys: { ...base, ...textCell, metadata: cellMetadata.markdown } },
    raw: { required, keys: { ...base, ...textCell, metadata: cellMetadata.raw } },
    code: {
      required: [...required, 'outputs', 'execution_count'],
      keys: { ...base, metadata: cellMetadata.code, outputs: arrayOf(output), execution_count: executionCount },
    },
  };
}

function createSchema({ others, hasIds }: { others: SchemaCheck | false; hasIds: boolean }): NotebookSchema {
  const output = byType('output_type', outputRules, others);
  const cell = byType('cell_type', cellRules(output, hasIds), others);
  const notebook = object({
    required: ['metadata', 'nbformat_minor', 'nbformat', 'cells'],
    keys: { metadata: notebookMetadata, nbformat_minor: integer({ min: 0 }), nbformat: oneOf([4]), cells: arrayOf(cell) },
    others,
  });
  return { notebook, cell, output };
}

const withoutIds = createSchema({ others: false, hasIds: false });
const current = createSchema({ others: false, hasIds: true });
const future = createSchema({ others: anything, hasIds: true });

export function schemaOf(minor: number): NotebookSchema {
  if (minor > 5) return future;
  return minor === 5 ? current : withoutIds;
}

/** All of these keys are required. */
function allOf(keys: { readonly [key: string]: SchemaCheck }): ObjectRules {
  return { required: Object.keys(keys), keys };
}

/** The rules of the type that an object says it has. */
function byType(key: string, rules: { readonly [type: string]: ObjectRules }, others: SchemaCheck | false): SchemaCheck {
  const checks = Object.fromEntries(Object.entries(rules).map(([type, rule]) => [type, object({ ...rule, others })]));
  const isType = oneOf(Object.keys(rules));
  return (value, path) => {
    if (!isJsonObject(value)) throw wanted('an object', value, path);
    if (!Object.hasOwn(value, key)) throw new SchemaFault(path, `lacks "${key}"`);
    const type = value[key];
    isType(type, [...path, key]);
    checks[type as string]?.(value, path);
  };
}
