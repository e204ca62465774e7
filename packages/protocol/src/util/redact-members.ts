import { ExactNumber, isJsonObject, type JsonObject, setMember } from '../json.js';

/** A copy of an object with its names and values redacted. No member hides another: names that have become the same are numbered. */
export function redactMembers(
  object: JsonObject,
  redactName: (name: string) => string,
  redactValue: (value: unknown, name: string) => unknown,
): JsonObject {
  const copy: JsonObject = {};
  const distinct = distinctNames();
  for (const [name, value] of Object.entries(object)) setMember(copy, distinct(redactName(name)), redactValue(value, name));
  return copy;
}

/** Returns each name as it is the first time, and with a number that no other has from then on. */
export function distinctNames(): (name: string) => string {
  const taken = new Map<string, number>();
  return (name) => {
    let shown = name;
    let count = taken.get(name) ?? 0;
    while (taken.has(shown)) shown = `${name} (${++count + 1})`;
    taken.set(name, count).set(shown, taken.get(shown) ?? 0);
    return shown;
  };
}

/** A copy with every text and number redacted, one by one: printed as JSON, a secret with a line break in it would no longer be found. */
export function redactValue(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value === 'number' || value instanceof ExactNumber) return redactNumber(value, redact);
  if (Array.isArray(value)) return value.map((item) => redactValue(item, redact));
  return isJsonObject(value) ? redactMembers(value, redact, (member) => redactValue(member, redact)) : value;
}

/** A number, or a mark where its digits are a secret: however it is written, as `12.0` or `1.2e1`. */
export function redactNumber(value: number | ExactNumber, redact: (text: string) => string): unknown {
  for (const text of [String(value), digitsOf(String(value))]) {
    const hidden = redact(text);
    if (hidden !== text) return hidden;
  }
  return value;
}

/** More digits than this are no secret that somebody wrote as one. */
const mostDigits = 400;

/** The digits before its decimal point, without an exponent. */
function digitsOf(number: string): string {
  const [, whole = '', fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? [];
  const length = whole.length + Number(exponent);
  return length > 0 && length <= mostDigits ? (whole + fraction).padEnd(length, '0').slice(0, length) : '';
}
