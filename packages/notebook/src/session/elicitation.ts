import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { ServerQuestion } from '../kernel/kernel-tools.js';

/** What a server asks a person by a form, or to do at a URL: MCP's elicitation, checked and bounded for a window. */
export interface Elicitation {
  /** Who asks. */
  readonly server: string;
  readonly message: string;
  /** Whole, as the server wrote it. Undefined: it is a form. */
  readonly url?: string;
  readonly fields: readonly FormField[];
}

/** One value of a form. */
export interface FormField {
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  readonly isRequired: boolean;
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices';
  /** Of a text. */
  readonly format?: 'email' | 'uri' | 'date' | 'date-time';
  /** Of a text its length, of a number its value, of choices how many. */
  readonly min?: number;
  readonly max?: number;
  readonly choices?: readonly { readonly value: string; readonly title: string }[];
  readonly preset?: string | number | boolean | readonly string[];
}

export type ElicitationAnswer = { readonly action: 'decline' | 'cancel' } | { readonly action: 'accept'; readonly content?: JsonObject };

/** More than these, and it is not shown. */
const most = { fields: 50, choices: 500, words: 2000, message: 10_000, url: 16_384, answer: 100_000 };
const formats = ['email', 'uri', 'date', 'date-time'] as const;

/** Undefined for what no window can show: not an elicitation, too large, or with a schema that is none of MCP's flat ones. */
export function toElicitation({ method, params = {} }: ServerQuestion, server: string): Elicitation | undefined {
  const { mode = 'form', message, url, requestedSchema } = params;
  if (method !== 'elicitation/create' || typeof message !== 'string' || message.length > most.message) return undefined;
  // The window says who asks, beside the text.
  const prefix = `[${server}] `;
  const said = { server, message: message.startsWith(prefix) ? message.slice(prefix.length) : message };
  if (mode === 'url') return isShownUrl(url) ? { ...said, url, fields: [] } : undefined;
  const fields = mode === 'form' ? toFields(requestedSchema) : undefined;
  return fields && { ...said, fields };
}

/** What is wrong with an answer to a form, for the person; undefined for nothing. */
export function answerFault({ url, fields }: Elicitation, answer: ElicitationAnswer): string | undefined {
  if (answer.action !== 'accept' || url !== undefined) return undefined;
  const content = answer.content ?? {};
  const unknown = Object.keys(content).find((name) => !fields.some((field) => field.name === name));
  if (unknown !== undefined) return 'it has a value that the form does not ask for';
  for (const field of fields) {
    const value = Object.hasOwn(content, field.name) ? content[field.name] : undefined;
    const fault = value === undefined ? (field.isRequired ? 'is missing' : undefined) : faultOfValue(field, value);
    if (fault !== undefined) return `"${field.title}" ${fault}`;
  }
  return undefined;
}

function faultOfValue({ type, min = -Infinity, max = Infinity, choices = [] }: FormField, value: unknown): string | undefined {
  const isChoice = (one: unknown): boolean => choices.some((choice) => choice.value === one);
  const isWithin = (size: number): boolean => size >= min && size <= Math.min(max, type === 'string' ? most.answer : Infinity);
  switch (type) {
    case 'string':
      return typeof value === 'string' && isWithin([...value].length) ? undefined : 'has not the length that is asked for';
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'is neither yes nor no';
    case 'choice':
      return isChoice(value) ? undefined : 'is none of the choices';
    case 'choices':
      return Array.isArray(value) && value.every(isChoice) && isWithin(value.length)
        ? undefined
        : 'has choices that are not there, or too few';
    default:
      if (typeof value !== 'number' || !isWithin(value)) return 'is no number within the bounds';
      return type === 'integer' && !Number.isInteger(value) ? 'is no whole number' : undefined;
  }
}

function isShownUrl(url: unknown): url is string {
  return typeof url === 'string' && url.length <= most.url && /^https?:\/\//i.test(url);
}

function toFields(schema: unknown): FormField[] | undefined {
  if (!isJsonObject(schema) || schema.type !== 'object' || !isJsonObject(schema.properties)) return undefined;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const properties = Object.entries(schema.properties);
  if (properties.length > most.fields) return undefined;
  const fields = properties.map(([name, property]) => toField(name, property, required.includes(name)));
  return fields.every((field) => field !== undefined) ? fields : undefined;
}

function toField(name: string, property: unknown, isRequired: boolean): FormField | undefined {
  if (!isJsonObject(property) || name.length > most.words) return undefined;
  const { title, description, type, format, default: preset, writeOnly } = property;
  // A secret is never asked by a form: where the specification's own words for one stand, nothing is shown.
  if (format === 'password' || writeOnly === true) return undefined;
  const kind = kindOf(property);
  if (kind === undefined || [title, description].some((word) => word !== undefined && !isWord(word))) return undefined;
  const isList = kind.type === 'choices';
  const [min, max] = type === 'string' ? ['minLength', 'maxLength'] : isList ? ['minItems', 'maxItems'] : ['minimum', 'maximum'];
  return {
    name,
    title: isWord(title) && title !== '' ? title : name,
    ...(isWord(description) && { description }),
    isRequired,
    ...kind,
    ...(kind.type === 'string' && isFormat(format) && { format }),
    ...(isNumber(property[min]) && { min: property[min] }),
    ...(isNumber(property[max]) && { max: property[max] }),
    ...(isPreset(preset) && faultOfValue({ name, title: name, isRequired, ...kind }, preset) === undefined && { preset }),
  };
}

function kindOf(property: JsonObject): Pick<FormField, 'type' | 'choices'> | undefined {
  const { type, enum: values, enumNames, oneOf, items } = property;
  if (type === 'array') {
    if (!isJsonObject(items)) return undefined;
    const choices = choicesOf(items.enum, undefined) ?? titledChoices(items.anyOf ?? items.oneOf);
    return choices && { type: 'choices', choices };
  }
  if (type === 'string' && (values !== undefined || oneOf !== undefined)) {
    const choices = choicesOf(values, enumNames) ?? titledChoices(oneOf);
    return choices && { type: 'choice', choices };
  }
  if (type === 'string' || type === 'number' || type === 'integer' || type === 'boolean') return { type };
  return undefined;
}

function choicesOf(values: unknown, names: unknown): FormField['choices'] {
  if (!Array.isArray(values) || values.length === 0 || values.length > most.choices || !values.every(isWord)) return undefined;
  const titles = Array.isArray(names) ? names : [];
  return values.map((value, at) => ({ value, title: isWord(titles[at]) ? titles[at] : value }));
}

function titledChoices(list: unknown): FormField['choices'] {
  if (!Array.isArray(list) || list.length === 0 || list.length > most.choices) return undefined;
  const choices = list.map((one) =>
    isJsonObject(one) && isWord(one.const) ? { value: one.const, title: isWord(one.title) ? one.title : one.const } : undefined,
  );
  return choices.every((choice) => choice !== undefined) ? choices : undefined;
}

function isFormat(format: unknown): format is (typeof formats)[number] {
  return formats.some((known) => known === format);
}

function isWord(value: unknown): value is string {
  return typeof value === 'string' && value.length <= most.words;
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function isPreset(value: unknown): value is NonNullable<FormField['preset']> {
  return ['string', 'number', 'boolean'].includes(typeof value) || Array.isArray(value);
}
