/** Values as text for agents: JSON where a value is JSON, else as a literal of the language would look. */

const { stringify } = JSON;
const { isArray } = Array;
const { getPrototypeOf, getOwnPropertyDescriptor, prototype: objectPrototype } = Object;
const { ownKeys } = Reflect;
const promisePrototype = Promise.prototype;
const dateToText = Date.prototype.toISOString;
const patternToText = RegExp.prototype.toString;

/** Characters of one text; what is longer is cut, and says so. */
const maxCharacters = 1_000_000;
const maxDepth = 8;
const maxItems = 1000;
/** JSON may be deeper than what people read. */
const maxJsonDepth = 200;

/** Never throws: what cannot be shown says why. */
export function show(value: unknown): string {
  let text: string;
  try {
    text = isJson(value, 0) ? (stringify(value) ?? 'undefined') : inspect(value, { depth: 0, above: [], left: maxCharacters });
  } catch (error) {
    text = `[a value that cannot be shown: ${messageOf(error)}]`;
  }
  return text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters)}… (${text.length} characters in all)`;
}

function messageOf(error: unknown): string {
  try {
    return `${(error as Error).message}`;
  } catch {
    return 'it throws an error without a text';
  }
}

/** Whether `JSON.parse` of its JSON would be the same value. */
function isJson(value: unknown, depth: number): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return value - value === 0 && !(value === 0 && 1 / value < 0);
  if (typeof value !== 'object' || depth > maxJsonDepth) return false;
  const prototype = getPrototypeOf(value);
  if (isArray(value)) {
    if (prototype !== Array.prototype) return false;
    for (let at = 0; at < value.length; at++) if (!isJson(dataOf(value, at), depth + 1)) return false;
    return true;
  }
  if (prototype !== objectPrototype && prototype !== null) return false;
  for (const key of ownKeys(value)) {
    if (typeof key === 'symbol' || key === 'toJSON' || !isJson(dataOf(value, key), depth + 1)) return false;
  }
  return true;
}

/** Of a getter, or of what is not enumerable: nothing, which is no JSON. */
function dataOf(holder: object, key: PropertyKey): unknown {
  const found = getOwnPropertyDescriptor(holder, key);
  return found?.enumerable === true ? found.value : undefined;
}

interface Place {
  depth: number;
  above: readonly object[];
  /** Characters that may still be written; counted roughly. */
  left: number;
}

function inspect(value: unknown, place: Place): string {
  if (typeof value === 'string') return stringify(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return inspectFunction(value);
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : String(value);
  if (place.above.includes(value)) return '[Circular]';
  if (place.depth > maxDepth) return isArray(value) ? '[Array]' : '[Object]';
  return inspectObject(value, { ...place, depth: place.depth + 1, above: [...place.above, value] });
}

function inspectFunction(value: { name: unknown }): string {
  const name = typeof value.name === 'string' && value.name !== '' ? value.name : 'anonymous';
  return /^class\b/.test(Function.prototype.toString.call(value)) ? `[class ${name}]` : `[Function: ${name}]`;
}

function inspectObject(value: object, place: Place): string {
  if (isArray(value)) return `[${listed(value.length, (at) => inspect(value[at], place), place)}]`;
  if (value instanceof Error) return place.depth === 1 ? textOfError(value) : `[${textOfError(value)}]`;
  if (value instanceof Date) return Number.isNaN(+value) ? 'Invalid Date' : dateToText.call(value);
  if (value instanceof RegExp) return patternToText.call(value);
  if (getPrototypeOf(value) === promisePrototype) return 'Promise {}';
  const name = nameOf(value);
  if (value instanceof Map) {
    const entries = [...value];
    return `${name}(${value.size}) {${listed(entries.length, (at) => `${inspect(entries[at]?.[0], place)} => ${inspect(entries[at]?.[1], place)}`, place)}}`;
  }
  if (value instanceof Set) {
    const items = [...value];
    return `${name}(${value.size}) {${listed(items.length, (at) => inspect(items[at], place), place)}}`;
  }
  if (ArrayBuffer.isView(value) && 'length' in value) {
    const items = value as unknown as ArrayLike<unknown>;
    const shown = Math.min(items.length, 50);
    return `${name}(${items.length}) [${listed(shown, (at) => String(items[at]), place)}${items.length > shown ? ', …' : ''}]`;
  }
  if (value instanceof ArrayBuffer) return `${name}(${value.byteLength})`;
  return `${name === 'Object' ? '' : `${name} `}{${inspectMembers(value, place)}}`;
}

function inspectMembers(value: object, place: Place): string {
  const keys = ownKeys(value).filter((key) => getOwnPropertyDescriptor(value, key)?.enumerable === true);
  return listed(
    keys.length,
    (at) => {
      const key = keys[at] as PropertyKey;
      const found = getOwnPropertyDescriptor(value, key);
      const name = typeof key === 'symbol' ? `[${String(key)}]` : /^[A-Za-z_$][\w$]*$/.test(String(key)) ? String(key) : stringify(key);
      // A getter is code.
      return `${name}: ${found !== undefined && 'value' in found ? inspect(found.value, place) : '[Getter]'}`;
    },
    place,
  );
}

function listed(count: number, itemAt: (at: number) => string, place: Place): string {
  const items: string[] = [];
  for (let at = 0; at < count; at++) {
    if (at >= maxItems || place.left <= 0) {
      items.push(`… ${count - at} more`);
      break;
    }
    const item = itemAt(at);
    place.left -= item.length + 2;
    items.push(item);
  }
  return items.join(', ');
}

function nameOf(value: object): string {
  const prototype = getPrototypeOf(value);
  if (prototype === null) return 'Object';
  const maker = getOwnPropertyDescriptor(prototype, 'constructor')?.value;
  return typeof maker === 'function' && typeof maker.name === 'string' && maker.name !== '' ? maker.name : 'Object';
}

function textOfError(error: Error): string {
  const { name, message } = error;
  return message === '' || message === undefined ? String(name) : `${String(name)}: ${String(message)}`;
}
