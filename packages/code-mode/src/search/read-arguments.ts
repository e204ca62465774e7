import { BridgeError } from '@notebridge/protocol/core/errors';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { didYouMean } from '@notebridge/protocol/util/did-you-mean';
import { quote } from '@notebridge/protocol/util/quote';

/** The arguments of a call, of which none is unknown. Throws `invalid_arguments`. */
export function readArguments(params: unknown, { properties }: JsonObject): JsonObject {
  const given = params ?? {};
  if (!isJsonObject(given)) throw wrongArgument(`The arguments must be an object, found ${quote(given)}.`);
  const { language, ...rest } = given;
  if (language !== undefined && language !== null && language !== 'python') throw wrongArgument(onlyPython(language));
  const known = Object.keys(properties as object);
  const unknown = Object.keys(rest).find((key) => !known.includes(key));
  if (unknown === undefined) return rest;
  const meant = didYouMean(unknown, known);
  throw wrongArgument(
    `There is no argument ${quote(unknown)}${meant === undefined ? '' : `; did you mean "${meant}"?`} There are ${known.join(', ')}.`,
  );
}

/** To whoever asks for JavaScript, or another language. */
function onlyPython(language: unknown): string {
  return `Code here is Python: write it in Python, and leave "language" out (found ${quote(language)}). A program of your own in TypeScript or JavaScript calls the tools by the functions of "notebridge generate --lang typescript".`;
}

/** Null counts as left out, as many models send it, and so does an empty text. Throws `invalid_arguments`, as the next ones. */
export function textOf(given: JsonObject, key: string): string | undefined {
  const value = given[key] ?? undefined;
  if (value === undefined || typeof value === 'string') return value === '' ? undefined : value;
  throw wrongArgument(`"${key}" must be a text, found ${quote(value)}.`);
}

export function flagOf(given: JsonObject, key: string): boolean {
  const value = given[key] ?? false;
  if (typeof value === 'boolean') return value;
  throw wrongArgument(`"${key}" must be true or false, found ${quote(value)}.`);
}

export function numberOf(given: JsonObject, key: string, { least, most }: { least: number; most: number }): number | undefined {
  const value = given[key] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most) return value;
  const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `from ${least} to ${most}`;
  throw wrongArgument(`"${key}" must be a whole number ${range}, found ${quote(value)}.`);
}

export function choiceOf<Choice extends string>(given: JsonObject, key: string, choices: readonly Choice[]): Choice | undefined {
  const value = given[key] ?? undefined;
  const found = choices.find((choice) => choice === value);
  if (value === undefined || found !== undefined) return found;
  throw wrongArgument(`"${key}" must be one of ${choices.map((choice) => `"${choice}"`).join(', ')}, found ${quote(value)}.`);
}

export function wrongArgument(message: string): BridgeError {
  return new BridgeError('invalid_arguments', message);
}
