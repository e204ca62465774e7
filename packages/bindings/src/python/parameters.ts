import { ExactNumber, isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { assignNames } from '../names.js';
import { pythonLiteral } from './literals.js';
import type { ModuleNames } from './module-names.js';
import { toParameterName } from './python-names.js';
import { type PythonTypes, toClassName } from './python-types.js';
import { propertiesOf, requiredOf } from './schemas.js';

export interface Parameter {
  wire: string;
  python: string;
  type: string;
  isRequired: boolean;
  /** What stands after `=` in the signature. Undefined for a required one. */
  written: string | undefined;
  schema: JsonObject;
}

export interface Parameters {
  /** Required ones first, else in the order of the schema. */
  list: Parameter[];
  /** The type of arguments that the schema does not name; undefined if it takes none. */
  others: string | undefined;
}

/** The parameters that a tool's input schema asks for. */
export function toParameters(inputSchema: unknown, types: PythonTypes, names: ModuleNames): Parameters {
  const root = rootOf(inputSchema, types);
  const required = requiredOf(root);
  const properties = propertiesOf(root);
  // What is required and not described is asked for all the same.
  const described = new Set(properties.map(([name]) => name));
  const undescribed = [...required].filter((name) => !described.has(name));
  const all: [string, unknown][] = [...properties, ...undescribed.map((name): [string, unknown] => [name, true])];
  const named = assignNames(
    all.map(([name]) => name),
    { ignoreCase: false, kind: 'arg', toName: toParameterName },
  );
  const list = all.map(([wire, schema], index): Parameter => {
    const python = named[index] ?? wire;
    const type = types.typeOf(schema, toClassName(python) || 'Value');
    const isRequired = required.has(wire);
    const about = isJsonObject(schema) ? schema : {};
    return { wire, python, type, isRequired, schema: about, written: isRequired ? undefined : writtenDefault(about, type, names) };
  });
  list.sort((one, other) => Number(other.isRequired) - Number(one.isRequired));
  return { list, others: othersOf(root, inputSchema, types) };
}

/** The one object that all of the schema's alternatives are joined into: a call may use what any of them takes. */
function rootOf(inputSchema: unknown, types: PythonTypes): JsonObject {
  if (!isJsonObject(inputSchema)) return {};
  const root = types.schemas.joined(inputSchema);
  const choices = [root.anyOf, root.oneOf].find((each) => Array.isArray(each) && each.length > 0) as unknown[] | undefined;
  if (choices === undefined) return root;
  const objects = choices.map((choice) => (isJsonObject(choice) ? types.schemas.joined(choice) : {}));
  const properties = new Map<string, unknown[]>();
  for (const [name, schema] of [root, ...objects].flatMap(propertiesOf)) {
    const schemas = properties.get(name);
    if (schemas === undefined) properties.set(name, [schema]);
    else schemas.push(schema);
  }
  const [first = new Set<string>(), ...more] = objects.map(requiredOf);
  const required = [...first].filter((name) => more.every((each) => each.has(name)));
  return {
    ...root,
    properties: Object.fromEntries([...properties].map(([name, each]) => [name, each.length === 1 ? each[0] : { anyOf: each }])),
    required: [...requiredOf(root), ...required],
    additionalProperties:
      root.additionalProperties ?? objects.find(({ additionalProperties }) => additionalProperties)?.additionalProperties,
  };
}

/** Schemas that say nothing of other arguments mean none, as nearly all servers do; those that name no argument at all may take any. */
function othersOf(root: JsonObject, inputSchema: unknown, types: PythonTypes): string | undefined {
  const { additionalProperties: others, properties, patternProperties } = root;
  const any = () => types.typeOf(true, 'Other');
  if (isJsonObject(patternProperties) && Object.keys(patternProperties).length > 0) return any();
  if (isJsonObject(others)) return types.typeOf(others, 'Other');
  if (others === true) return any();
  if (others === false) return undefined;
  return !isJsonObject(properties) || !isJsonObject(inputSchema) ? any() : undefined;
}

/** The default as the signature shows it. What a type checker might not take for the parameter's type goes through `default(...)`. */
function writtenDefault(schema: JsonObject, type: string, names: ModuleNames): string {
  if (!('default' in schema)) return names.use('UNSET');
  const text = pythonLiteral(schema.default);
  if (text === undefined) return names.use('UNSET');
  const value = schema.default;
  const isPlain =
    (typeof value === 'boolean' && type === 'bool') ||
    (typeof value === 'string' && type === 'str') ||
    (typeof value === 'number' && (type === 'float' || (type === 'int' && /^-?\d+$/.test(text)))) ||
    (value instanceof ExactNumber && type === 'float') ||
    (value === null && /^Optional\[|^Any$/.test(type));
  return isPlain ? text : `${names.use('default')}(${text})`;
}
