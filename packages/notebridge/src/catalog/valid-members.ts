import { ExactNumber, isJsonObject, type JsonObject } from '@notebridge/kit/json';

/** Makes a value valid: the same one if it is, another one if that can be said, undefined if it has to be left out. */
export type Validate = (value: unknown) => unknown;

export const text: Validate = (value) => (typeof value === 'string' ? value : undefined);
export const filledText: Validate = (value) => (value === '' ? undefined : text(value));
export const truth: Validate = (value) => (typeof value === 'boolean' ? value : undefined);
export const objectMember: Validate = (value) => (isJsonObject(value) ? value : undefined);
export const whole: Validate = (value) => (isNumber(value) && Number.isInteger(Number(value)) ? value : undefined);

export function oneOfWords(...values: readonly string[]): Validate {
  return (value) => (values.includes(value as string) ? value : undefined);
}

export function between(least: number, most: number): Validate {
  return (value) => (isNumber(value) && Number(value) >= least && Number(value) <= most ? value : undefined);
}

/** A list without its faulty items. */
export function listMember(validate: Validate): Validate {
  return (value) => {
    if (!Array.isArray(value)) return undefined;
    const items = value.map(validate);
    return items.every((item, at) => item === value[at]) ? value : items.filter((item) => item !== undefined);
  };
}

/** An object without its faulty members; none without one that it needs. Members that are not in the table pass. */
export function objectWith(
  table: Readonly<Record<string, Validate>>,
  needed: readonly string[] = [],
): (value: unknown) => JsonObject | undefined {
  return (value) => {
    if (!isJsonObject(value)) return undefined;
    let fixed: JsonObject | undefined;
    for (const [key, validate] of Object.entries(table)) {
      if (!Object.hasOwn(value, key)) continue;
      const member = validate(value[key]);
      if (member === value[key]) continue;
      fixed ??= { ...value };
      if (member === undefined) delete fixed[key];
      else fixed[key] = member;
    }
    const valid = fixed ?? value;
    return needed.every((key) => Object.hasOwn(valid, key)) ? valid : undefined;
  };
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || value instanceof ExactNumber;
}
