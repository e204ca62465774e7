import { ExactNumber, isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { appendAll } from '@notebridge/protocol/util/long-lists';
import { docText, isBroken, pythonString } from './literals.js';
import type { ModuleNames } from './module-names.js';
import { isIdentifier } from './python-names.js';
import { propertiesOf, requiredOf, Schemas } from './schemas.js';

/** Where a type stands: a caller may hand a tuple in, and never gets one back, since JSON has none. */
export type Direction = 'argument' | 'result';

const maxDepth = 16;
const maxDefinitions = 400;
/** Schemas looked at for one document: references, within choices too, can multiply without end. */
const maxVisits = 20_000;
const maxMembers = 40;
const maxLiterals = 200;
const maxLiteralLength = 200;
const maxTypeLength = 4000;
/** What `TypedDict` classes cannot have as a field without harm to its type. */
const dictMembers = new Set('clear copy fromkeys get items keys pop popitem setdefault update values'.split(' '));

/** Types of Python for the schemas of one document. What Python cannot say becomes `Any`. */
export class PythonTypes {
  readonly #schemas: Schemas;
  readonly #names: ModuleNames;
  readonly #direction: Direction;
  /** By reference. */
  readonly #known = new Map<string, string[]>();
  /** Names of definitions by their text without the name: what looks the same is defined once. */
  readonly #byText = new Map<string, string>();
  readonly #definitions = new Map<string, string>();
  #count = 0;
  #visits = 0;

  constructor(root: unknown, names: ModuleNames, direction: Direction) {
    this.#schemas = new Schemas(root);
    this.#names = names;
    this.#direction = direction;
  }

  get schemas(): Schemas {
    return this.#schemas;
  }

  /** The definitions that the types need, as source text. */
  definitions(): string[] {
    return [...this.#definitions.values()];
  }

  /** @param hint What an object in it may be called: `EditsItem`. */
  typeOf(schema: unknown, hint: string): string {
    return this.#toText(this.#members(schema, hint, 0));
  }

  #members(schema: unknown, hint: string, depth: number): string[] {
    if (!isJsonObject(schema) || depth > maxDepth || ++this.#visits > maxVisits) return this.#any();
    const members = this.#membersOf(schema, hint, depth);
    return schema.nullable === true ? [...members, 'None'] : members;
  }

  #membersOf(schema: JsonObject, hint: string, depth: number): string[] {
    const { $ref, allOf, anyOf, oneOf, ...rest } = schema;
    if (typeof $ref === 'string' && !allOf && !Object.keys(rest).some(isTelling)) return this.#reference($ref, depth);
    if (typeof $ref === 'string' || Array.isArray(allOf)) {
      const joined = this.#schemas.joined(schema);
      // The schema that a reference names may be as large as the document, and many references may name it.
      this.#visits += propertiesOf(joined).length;
      // A cycle of references alone says nothing.
      return this.#membersOf({ ...joined, $ref: undefined, allOf: undefined }, hint, depth + 1);
    }
    if ('const' in schema) return this.#literals([schema.const]);
    if (Array.isArray(schema.enum)) return this.#literals(schema.enum);
    const choices = [anyOf, oneOf].find((each) => Array.isArray(each) && each.length > 0) as unknown[] | undefined;
    if (choices !== undefined) return this.#choice(rest, choices, hint, depth);
    const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? impliedType(schema)];
    return types.flatMap((type) => this.#ofType(type, schema, hint, depth));
  }

  #reference(reference: string, depth: number): string[] {
    const known = this.#known.get(reference);
    if (known !== undefined) return known;
    const target = this.#schemas.resolve(reference);
    if (!isJsonObject(target)) return this.#any();
    const hint = toClassName(reference.slice(reference.lastIndexOf('/') + 1)) || 'Value';
    if (this.#isRecord(target)) {
      // Its name first: it may hold itself.
      const name = this.#reserve(hint);
      if (name === undefined) return [this.#anyDict()];
      this.#known.set(reference, [name]);
      this.#definitions.set(name, this.#record(name, target, hint, depth));
      return [name];
    }
    // What is no object of its own cannot name itself: where it comes round, it is anything.
    this.#known.set(reference, this.#any());
    const members = this.#members(target, hint, depth + 1);
    this.#known.set(reference, members);
    return members;
  }

  #choice(base: JsonObject, choices: unknown[], hint: string, depth: number): string[] {
    const isBaseTelling = Object.keys(base).some(isTelling);
    const members: string[] = [];
    for (const choice of choices.slice(0, maxMembers)) {
      const schema = isBaseTelling && isJsonObject(choice) ? { allOf: [base, choice] } : choice;
      appendAll(members, this.#members(schema, hint, depth + 1));
    }
    return choices.length > maxMembers ? this.#any() : members;
  }

  #literals(values: readonly unknown[]): string[] {
    const plain = values.map((value) => (value instanceof ExactNumber ? value.valueOf() : value));
    if (plain.length > maxLiterals || plain.some(isTooLong)) return [...new Set(plain.flatMap((value) => this.#typeOfValue(value)))];
    const literal = (text: string) => `${this.#names.use('Literal')}[${text}]`;
    const texts: string[] = [];
    const others: string[] = [];
    for (const value of plain) {
      if (typeof value === 'string') texts.push(pythonString(value));
      else if (typeof value === 'boolean') texts.push(value ? 'True' : 'False');
      else if (Number.isSafeInteger(value)) texts.push(String(value === 0 ? 0 : value));
      else appendAll(others, this.#typeOfValue(value));
    }
    const members = [...(texts.length > 0 ? [literal([...new Set(texts)].join(', '))] : []), ...others];
    return members.length > 0 ? members : this.#any();
  }

  #typeOfValue(value: unknown): string[] {
    if (value === null) return ['None'];
    if (typeof value === 'string') return [this.#names.use('str')];
    if (typeof value === 'boolean') return [this.#names.use('bool')];
    if (typeof value === 'number') return [this.#names.use(Number.isInteger(value) ? 'int' : 'float')];
    if (Array.isArray(value)) return [`${this.#names.use('List')}[${this.#names.use('Any')}]`];
    return [this.#anyDict()];
  }

  #ofType(type: unknown, schema: JsonObject, hint: string, depth: number): string[] {
    switch (type) {
      case 'string':
        return [this.#names.use('str')];
      case 'integer':
        return [this.#names.use('int')];
      case 'number':
        return [this.#names.use('float')];
      case 'boolean':
        return [this.#names.use('bool')];
      case 'null':
        return ['None'];
      case 'array':
        return this.#array(schema, hint, depth);
      case 'object':
        return [this.#object(schema, hint, depth)];
      default:
        return this.#any();
    }
  }

  #array(schema: JsonObject, hint: string, depth: number): string[] {
    const prefix = [schema.prefixItems, schema.items].find(Array.isArray) as unknown[] | undefined;
    const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items;
    const itemHint = `${hint}Item`;
    const list = (members: string[]) => `${this.#names.use('List')}[${this.#toText(members)}]`;
    if (prefix === undefined || prefix.length > maxMembers) return [list(prefix ? this.#any() : this.#members(rest, itemHint, depth + 1))];
    const each = prefix.map((item, index) => this.#members(item, `${itemHint}${index + 1}`, depth + 1));
    const isExact = rest === false || (schema.minItems === prefix.length && schema.maxItems === prefix.length);
    const all = isExact ? each.flat() : [...each.flat(), ...this.#members(rest ?? true, itemHint, depth + 1)];
    if (!isExact || each.length === 0 || this.#direction === 'result') return [list(all)];
    return [`${this.#names.use('Tuple')}[${each.map((members) => this.#toText(members)).join(', ')}]`, list(all)];
  }

  #object(schema: JsonObject, hint: string, depth: number): string {
    if (this.#isRecord(schema)) {
      const text = this.#record('', schema, hint, depth);
      const known = this.#byText.get(text);
      if (known !== undefined) return known;
      const name = this.#reserve(hint);
      if (name === undefined) return this.#anyDict();
      this.#byText.set(text, name);
      // The definitions in it have their names already: only its own is written anew.
      this.#definitions.set(name, withName(text, name));
      return name;
    }
    if (propertiesOf(schema).length > 0) return this.#anyDict();
    const patterns = isJsonObject(schema.patternProperties) ? Object.values(schema.patternProperties) : [];
    const values = [...patterns, ...(isJsonObject(schema.additionalProperties) ? [schema.additionalProperties] : [])];
    if (values.length === 0 || values.length > maxMembers) return this.#anyDict();
    const members = values.flatMap((value) => this.#members(value, `${hint}Value`, depth + 1));
    return `${this.#names.use('Dict')}[${this.#names.use('str')}, ${this.#toText(members)}]`;
  }

  /** Whether a TypedDict says all of it: fields by name, and no others that the schema speaks of. */
  #isRecord(schema: JsonObject): boolean {
    const { type, properties, patternProperties, additionalProperties, $ref, allOf, anyOf, oneOf } = schema;
    if (type !== 'object' && !(type === undefined && isJsonObject(properties))) return false;
    if ($ref || allOf || anyOf || oneOf || schema.enum || 'const' in schema || patternProperties) return false;
    if (additionalProperties === true || isJsonObject(additionalProperties)) return false;
    const names = propertiesOf(schema).map(([name]) => name);
    return names.length > 0 && !names.some((name) => name === '' || isBroken(name) || name.length > maxLiteralLength);
  }

  #record(name: string, schema: JsonObject, hint: string, depth: number): string {
    const required = requiredOf(schema);
    const fields = propertiesOf(schema).map(([key, value]) => {
      const type = this.#toText(this.#members(value, `${hint}${toClassName(key)}`.slice(0, 60), depth + 1));
      const written = required.has(key) ? type : `${this.#names.use('NotRequired')}[${type}]`;
      return { key, type: written, note: isJsonObject(value) && typeof value.description === 'string' ? value.description : '' };
    });
    const base = this.#names.use('TypedDict');
    const isPlain = fields.every(({ key }) => this.#canBeField(key));
    if (!isPlain) {
      const members = fields.map(({ key, type }) => `        ${pythonString(key)}: ${pythonString(type)},`);
      return [`${name} = ${base}(`, `    ${pythonString(name)},`, '    {', ...members, '    },', ')'].join('\n');
    }
    const lines = fields.flatMap(({ key, type, note }) => {
      const shown = docText(note.slice(0, 1000).replaceAll(/\s+/g, ' ').trim());
      return [`    ${key}: ${type}`, ...(shown === '' ? [] : [`    """${shown}"""`])];
    });
    return [`class ${name}(${base}):`, ...lines].join('\n');
  }

  #canBeField(key: string): boolean {
    return /^[a-z_]/.test(key) && isIdentifier(key) && !key.startsWith('__') && !dictMembers.has(key) && !this.#names.isKnown(key);
  }

  #reserve(hint: string): string | undefined {
    if (this.#count >= maxDefinitions) return undefined;
    this.#count++;
    return this.#names.define(hint || 'Value');
  }

  #toText(members: readonly string[]): string {
    const unique = [...new Set(members)];
    if (unique.length === 0 || unique.includes(this.#names.spelling('Any'))) return this.#names.use('Any');
    const others = unique.filter((member) => member !== 'None');
    if (others.length === 0) return 'None';
    const text = others.length === 1 ? others.join() : `${this.#names.use('Union')}[${others.join(', ')}]`;
    if (text.length > maxTypeLength) return this.#names.use('Any');
    return others.length === unique.length ? text : `${this.#names.use('Optional')}[${text}]`;
  }

  #any(): string[] {
    return [this.#names.use('Any')];
  }

  #anyDict(): string {
    return `${this.#names.use('Dict')}[${this.#names.use('str')}, ${this.#names.use('Any')}]`;
  }
}

/** `edit_file` -> `EditFile`; empty if nothing is left. */
export function toClassName(text: string): string {
  const words = text.slice(0, 200).match(/[A-Za-z0-9]+/g) ?? [];
  const name = words
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
    .slice(0, 40);
  return /^[0-9]/.test(name) ? `Of${name}` : name;
}

/** Keys that say something of the type. */
const telling = new Set('type properties items prefixItems enum const additionalProperties patternProperties anyOf oneOf'.split(' '));

function isTelling(key: string): boolean {
  return telling.has(key);
}

function impliedType(schema: JsonObject): string | undefined {
  if (isJsonObject(schema.properties) || isJsonObject(schema.patternProperties) || schema.additionalProperties !== undefined)
    return 'object';
  return schema.items !== undefined || schema.prefixItems !== undefined ? 'array' : undefined;
}

function isTooLong(value: unknown): boolean {
  return typeof value === 'string' && (value.length > maxLiteralLength || isBroken(value));
}

function withName(text: string, name: string): string {
  if (text.startsWith('class (')) return text.replace('class (', () => `class ${name}(`);
  return text.replace(' = ', () => `${name} = `).replace('    "",', () => `    "${name}",`);
}
