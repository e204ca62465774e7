import { ExactNumber, isJsonObject, type JsonObject } from '@notebridge/protocol/json';

const types: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);
const dialect = /^https?:\/\/json-schema\.org\/(draft\/(2020-12|2019-09)|draft-0[67])\/schema#?$/;

type Check = (value: unknown, root: JsonObject) => boolean;

const isNumber: Check = (value) => value instanceof ExactNumber || typeof value === 'number';
const isBoolean: Check = (value) => typeof value === 'boolean';
const isText: Check = (value) => typeof value === 'string';
const isSchema: Check = (value, root) => typeof value === 'boolean' || (isJsonObject(value) && isPlain(value, root));
const areSchemas: Check = (value, root) => Array.isArray(value) && value.length > 0 && value.every((one) => isSchema(one, root));
const namedSchemas: Check = (value, root) => isJsonObject(value) && Object.values(value).every((one) => isSchema(one, root));
const isPattern: Check = (value) => {
  try {
    return typeof value === 'string' && new RegExp(value, 'u') instanceof RegExp;
  } catch {
    return false;
  }
};
/** Such schemas depend on more than themselves, or on the dialect. */
const unsure: Check = () => false;

/** What each keyword must be; others are passed over by validators. */
const keywords: Readonly<Record<string, Check>> = {
  type: (value) => (Array.isArray(value) ? value.every((one) => types.has(one)) : types.has(value)),
  enum: (value) => Array.isArray(value) && value.length > 0,
  required: (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
  $ref: (value, root) => typeof value === 'string' && isReachable(value, root),
  pattern: isPattern,
  patternProperties: (value, root) => namedSchemas(value, root) && Object.keys(value as JsonObject).every((key) => isPattern(key, root)),
  ...all(['properties', '$defs', 'definitions', 'dependentSchemas'], namedSchemas),
  ...all(['allOf', 'anyOf', 'oneOf', 'prefixItems'], areSchemas),
  ...all(['items', 'contains', 'not', 'if', 'then', 'else', 'propertyNames', 'additionalProperties'], isSchema),
  ...all(['unevaluatedItems', 'unevaluatedProperties'], isSchema),
  ...all(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minContains', 'maxContains'], isNumber),
  ...all(['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'], isNumber),
  uniqueItems: isBoolean,
  ...all(['format', 'title', 'description', '$comment'], isText),
  $schema: (value, root) => typeof value === 'string' && dialect.test(value) && root.$schema === value,
  ...all(['$id', 'id', '$anchor', '$dynamicAnchor', '$dynamicRef', '$recursiveAnchor', '$recursiveRef', '$async', '$vocabulary'], unsure),
  ...all(['dependencies', 'dependentRequired', 'additionalItems', 'nullable', 'discriminator'], unsure),
};

/** Schemas of one list that a validator is asked about: each takes it some milliseconds, so that of a server that has thousands the rest count as faulty. */
const maxAsked = 200;

/**
 * Whether the official clients can compile a schema. Nearly all are seen at once to be plain; of the others the validator of the client
 * itself is asked, one for all schemas of a list, as there: two with one `$id` meet in it.
 */
export function createCompileCheck(): (schema: JsonObject) => boolean | Promise<boolean> {
  let asked = 0;
  let validator: { getValidator: (schema: JsonObject) => unknown } | undefined;
  const ask = async (schema: JsonObject): Promise<boolean> => {
    validator ??= new (await import('@modelcontextprotocol/client/validators/ajv')).AjvJsonSchemaValidator();
    // Other calls go on meanwhile.
    await new Promise((resolve) => setImmediate(resolve));
    try {
      validator.getValidator(withoutFormats(schema));
      return true;
    } catch {
      return false;
    }
  };
  return (schema) => isPlain(schema, schema) || (asked++ < maxAsked && ask(schema));
}

/** The validator prints each format that it does not know, and takes any. */
function withoutFormats(schema: JsonObject): JsonObject {
  const text = JSON.stringify(schema, (key, value: unknown) => (key === 'format' && typeof value === 'string' ? undefined : value));
  return JSON.parse(text) as JsonObject;
}

function isPlain(schema: JsonObject, root: JsonObject): boolean {
  return Object.entries(schema).every(([key, value]) => !Object.hasOwn(keywords, key) || keywords[key]?.(value, root) === true);
}

/** A pointer within the schema, to a schema. */
function isReachable(ref: string, root: JsonObject): boolean {
  if (ref === '#') return true;
  if (!ref.startsWith('#/') || ref.includes('%')) return false;
  let found: unknown = root;
  for (const part of ref.slice(2).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    found = isJsonObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return isJsonObject(found) || typeof found === 'boolean';
}

function all(names: readonly string[], check: Check): Record<string, Check> {
  return Object.fromEntries(names.map((name) => [name, check]));
}
