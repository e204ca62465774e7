import { type JsonObject, setMember } from '@notebridge/kit/json';

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
