import { isJsonObject } from '@notebridge/protocol/json';

/** Elements of one list that are looked at: a summary is no analysis. */
const maxRead = 200_000;

/** The JSON value that begins at this place of a text. Undefined for what is none, or has no end. */
export function jsonAt(text: string, from: number): unknown {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (char === '"') at = endOfString(text, at);
    else if (char === '[' || char === '{') depth++;
    else if ((char === ']' || char === '}') && --depth === 0) return parse(text.slice(from, at + 1));
  }
  return undefined;
}

function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const readers: { readonly [dtype: string]: readonly [bytes: number, read: (view: DataView, at: number) => number] } = {
  f8: [8, (view, at) => view.getFloat64(at, true)],
  f4: [4, (view, at) => view.getFloat32(at, true)],
  i4: [4, (view, at) => view.getInt32(at, true)],
  u4: [4, (view, at) => view.getUint32(at, true)],
  i2: [2, (view, at) => view.getInt16(at, true)],
  u2: [2, (view, at) => view.getUint16(at, true)],
  i1: [1, (view, at) => view.getInt8(at)],
  u1: [1, (view, at) => view.getUint8(at)],
};

/** The values of a list, also of one that Plotly has packed. Undefined for what is none. */
export function valuesOf(list: unknown): readonly unknown[] | undefined {
  if (Array.isArray(list)) return list;
  if (!isJsonObject(list) || typeof list.bdata !== 'string' || typeof list.dtype !== 'string') return undefined;
  const reader = readers[list.dtype];
  if (!reader) return undefined;
  const bytes = Uint8Array.from(decode(list.bdata), (char) => char.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  const [size, read] = reader;
  return Array.from({ length: Math.floor(bytes.length / size) }, (_, index) => read(view, index * size));
}

function decode(base64: string): string {
  try {
    return atob(base64);
  } catch {
    return '';
  }
}

/** Where the values lie: from the least to the greatest, or the first few of those that have no order. */
export function describeRange(list: readonly unknown[]): string {
  const values = list.slice(0, maxRead).filter((value) => value !== null && value !== undefined && value !== '');
  const [first] = values;
  if (typeof first === 'number') {
    let [least, greatest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const value of values) {
      if (typeof value !== 'number' || !Number.isFinite(value)) continue;
      least = Math.min(least, value);
      greatest = Math.max(greatest, value);
    }
    return least > greatest ? 'no numbers' : `${shortNumber(least)}…${shortNumber(greatest)}`;
  }
  const texts = values.map(String);
  if (texts.length > 0 && texts.every((text) => /^\d{4}-\d{2}/.test(text))) {
    const sorted = texts.toSorted();
    return `${sorted[0]?.slice(0, 10)}…${sorted.at(-1)?.slice(0, 10)}`;
  }
  const distinct = [...new Set(texts)];
  const shown = distinct.slice(0, 3).map((text) => shortText(text, 16));
  return `${shown.join(', ')}${distinct.length > shown.length ? `, … (${distinct.length})` : ''}`;
}

export function shortText(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

function shortNumber(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 1e9 ? String(value) : String(Number(value.toPrecision(4)));
}
