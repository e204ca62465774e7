import { parseJson, printJson } from '@notebridge/protocol/exact-json';
import { ExactNumber, isJsonObject } from '@notebridge/protocol/json';

/** One argument as a field of a form. What a field holds is text; what it means is decided when the call is made. */
export interface Field {
  name: string;
  kind: 'text' | 'number' | 'boolean' | 'choice' | 'json';
  isRequired: boolean;
  description: string | undefined;
  /** Of a choice: each value, as JSON. */
  choices: string[];
  initial: string;
}

/** A form of more fields, or a choice of more values, would be drawn for minutes: they are typed as JSON. */
const mostFields = 500;
const mostChoices = 1000;

export type Values = { readonly [name: string]: string };

/** The fields of a tool's schema, those that are required first; none of a schema that has too many. References and what is nested are JSON: a schema may contain itself. */
export function fieldsOf(schema: unknown): Field[] {
  const { properties, required } = isJsonObject(schema) ? schema : {};
  const names = new Set(Array.isArray(required) ? required : []);
  if (isJsonObject(properties) && Object.keys(properties).length > mostFields) return [];
  const fields = Object.entries(isJsonObject(properties) ? properties : {}).map(([name, property]) =>
    toField(name, isJsonObject(property) ? property : {}, names.has(name)),
  );
  return [...fields.filter(({ isRequired }) => isRequired), ...fields.filter(({ isRequired }) => !isRequired)];
}

function toField(name: string, schema: { [key: string]: unknown }, isRequired: boolean): Field {
  const { description, default: usual } = schema;
  const choices = choicesOf(schema);
  const kind = choices.length > 0 ? 'choice' : kindOf(schema);
  const field: Field = {
    name,
    kind,
    isRequired,
    description: typeof description === 'string' ? description : undefined,
    choices,
    initial: '',
  };
  if (usual !== undefined) return { ...field, initial: toText(field, usual) ?? '' };
  if (kind === 'json' && isRequired) return { ...field, initial: schema.type === 'array' ? '[]' : schema.type === 'object' ? '{}' : '' };
  return kind === 'choice' && isRequired && choices.length === 1 ? { ...field, initial: choices[0] ?? '' } : field;
}

function choicesOf({ enum: values, const: only }: { [key: string]: unknown }): string[] {
  if (only !== undefined) return [printJson(only)];
  return Array.isArray(values) && values.length <= mostChoices ? values.map((value) => printJson(value)) : [];
}

function kindOf({ type, anyOf }: { [key: string]: unknown }): Field['kind'] {
  // Python's servers write "a string or nothing" so.
  const variants = (Array.isArray(anyOf) ? anyOf : []).filter((variant) => isJsonObject(variant) && variant.type !== 'null');
  if (variants.length === 1) return kindOf(variants[0]);
  const types = (Array.isArray(type) ? type : [type]).filter((each) => each !== 'null');
  if (types.length !== 1) return 'json';
  if (types[0] === 'string') return 'text';
  if (types[0] === 'number' || types[0] === 'integer') return 'number';
  return types[0] === 'boolean' ? 'boolean' : 'json';
}

export type Arguments = { json: string } | { faults: Values };

/** What the fields say, as one object of JSON; numbers stay as they were typed. An empty field that is not required is left out. */
export function toArguments(fields: readonly Field[], values: Values): Arguments {
  const faults: [string, string][] = [];
  const members: string[] = [];
  for (const field of fields) {
    const text = Object.hasOwn(values, field.name) ? (values[field.name] ?? '') : '';
    if (text === '' && !(field.isRequired && field.kind === 'text')) {
      if (field.isRequired) faults.push([field.name, missing]);
      continue;
    }
    const fault = faultIn(field, text);
    if (fault === undefined) members.push(`${JSON.stringify(field.name)}: ${field.kind === 'text' ? JSON.stringify(text) : text.trim()}`);
    else faults.push([field.name, fault]);
  }
  // A member may be called `__proto__`: entries keep it one.
  if (faults.length > 0) return { faults: Object.fromEntries(faults) };
  return { json: members.length === 0 ? '{}' : `{\n  ${members.join(',\n  ')}\n}` };
}

/** What is wrong with a field that nothing was typed into yet. */
export const missing = 'It is required.';

function faultIn({ kind }: Field, text: string): string | undefined {
  if (kind === 'number') return /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/.test(text.trim()) ? undefined : 'It must be a number.';
  return kind === 'json' ? faultOfJson(text) : undefined;
}

/** Why a text is no JSON; undefined if it is. */
function faultOfJson(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return `It must be JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Why a text is no object of JSON; undefined if it is one. */
export function faultOfObject(text: string): string | undefined {
  const fault = faultOfJson(text);
  if (fault !== undefined) return fault;
  return isJsonObject(parseJson(text)) ? undefined : 'The arguments must be an object: { … }';
}

/** What an object of JSON is in these fields; or the name of the member that has no field for it. */
export function toValues(fields: readonly Field[], json: string): { values: Values } | { without: string } {
  const args = parseJson(json);
  const values: [string, string][] = [];
  for (const [name, value] of Object.entries(isJsonObject(args) ? args : {})) {
    const field = fields.find((each) => each.name === name);
    const text = field && toText(field, value);
    // An empty text that is not required would be left out.
    if (field === undefined || text === undefined || (text === '' && !field.isRequired)) return { without: name };
    values.push([name, text]);
  }
  return { values: Object.fromEntries(values) };
}

function toText({ kind, choices }: Pick<Field, 'kind' | 'choices'>, value: unknown): string | undefined {
  if (kind === 'json') return printJson(value);
  if (kind === 'text') return typeof value === 'string' ? value : undefined;
  if (kind === 'number') return typeof value === 'number' || value instanceof ExactNumber ? printJson(value) : undefined;
  if (kind === 'boolean') return typeof value === 'boolean' ? String(value) : undefined;
  const choice = printJson(value);
  return choices.includes(choice) ? choice : undefined;
}
