/** A JSON object as it came from outside: keys that we do not know are kept. */
export type JsonObject = { [key: string]: unknown };

/** True for a plain JSON object; arrays, null and exact numbers are not. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/** Set while a printer runs that can insert the text of exact numbers; it returns their placeholder. */
export const exactPrinting: { placeholderOf: ((source: string) => string) | undefined } = { placeholderOf: undefined };

/**
 * A number kept as its source text, because a JavaScript number would print differently: 1.0, 1e5, 12345678901234567890, and the NaN
 * and Infinity that Python writes. Arithmetic uses the nearest number, and so does a printer that does not know this class.
 */
export class ExactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  valueOf(): number {
    return Number(this.source);
  }

  toString(): string {
    return this.source;
  }

  toJSON(): string | number {
    return exactPrinting.placeholderOf?.(this.source) ?? this.valueOf();
  }
}

/** Sets an own member; by assignment, `__proto__` would become the prototype. */
export function setMember(target: object, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  else (target as JsonObject)[key] = value;
}
