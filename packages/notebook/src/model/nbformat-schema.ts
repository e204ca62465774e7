import { isJsonObject } from '@notebridge/kit/json';
import {
  anyObject,
  anything,
  arrayOf,
  boolean,
  either,
  integer,
  type ObjectRules,
  object,
  oneOf,
  type SchemaCheck,
  SchemaFault,
  string,
  stringLike,
  wanted,
} from './schema-check.js';
import { isJsonMimeType } from './text.js';

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
