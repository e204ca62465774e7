/**
 * The JSON text that a result came in, kept beside the result so that passing it on costs no printing. It is true only while
 * nobody changes the result in place: a layer that might (a middleware or provider without `keepsResults`) has the text dropped.
 */
class KeptText extends (class {
  constructor(value: object) {
    // biome-ignore lint/correctness/noConstructorReturn: this is how a private field is put onto an object of another class.
    return value;
  }
} as new (
  value: object,
) => object) {
  // Private, so that no copy of the result (a spread, a clone) takes it along.
  #text: string | undefined;

  constructor(value: object, text: string) {
    super(value);
    this.#text = text;
  }

  static of(value: object): string | undefined {
    return #text in value ? value.#text : undefined;
  }

  static drop(value: object): void {
    if (#text in value) value.#text = undefined;
  }
}

/** Keeps the text of a value that has just been parsed from it. Once per value. */
export function keepText(value: object, text: string): void {
  new KeptText(value, text);
}

/** The text that stands for the value; undefined if none was kept, or it was dropped. */
export function keptTextOf(value: object): string | undefined {
  return KeptText.of(value);
}

/** From now on the value speaks for itself. Gives it back. */
export function dropText<Value extends object>(value: Value): Value {
  if (typeof value === 'object' && value !== null) KeptText.drop(value);
  return value;
}
