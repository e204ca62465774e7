import { stripVTControlCharacters, styleText } from 'node:util';
import { printMessage } from '@notebridge/protocol/core/wire';
import { ExactNumber } from '@notebridge/protocol/json';
import { largestOf } from '@notebridge/protocol/util/long-lists';
import type { Environment } from '@notebridge/system/processes/environment';

const styles = ['bold', 'dim', 'red', 'green', 'yellow'] as const;

/** Colours for a terminal; for anything else the text as it is. */
export type Paint = Readonly<Record<(typeof styles)[number], (text: string) => string>>;

const same = (text: string): string => text;
const toPaint = (inStyle: (style: keyof Paint) => (text: string) => string): Paint =>
  Object.fromEntries(styles.map((style) => [style, inStyle(style)])) as unknown as Paint;
export const plain = toPaint(() => same);

// Whether to colour is ours to say: for Node an empty NO_COLOR switches colours off, and a stream is one of its own only.
const coloured = toPaint((style) => (text) => (text === '' ? '' : styleText(style, text, { validateStream: false })));

/** Colours where a person sees them: on a terminal, and not against NO_COLOR (https://no-color.org). */
export function paintFor(stream: { isTTY?: boolean | undefined }, env: Environment = process.env): Paint {
  return stream.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb' ? coloured : plain;
}

/** What a person sees on stdout. */
export const paint = paintFor(process.stdout);

/**
 * Rows under a heading (none: no heading), columns as wide as their widest cell. The last column alone is cut to fit the `width` of the
 * terminal, in columns; left out, nothing is cut.
 */
export function toTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  { paint, width }: { paint: Paint; width?: number | undefined },
): string {
  const columns = largestOf(
    rows.map((row) => row.length),
    headings.length,
  );
  const widths = Array.from({ length: columns }, (_, column) =>
    largestOf(
      rows.map((row) => visible(row[column]).length),
      (headings[column] ?? '').length,
    ),
  );
  const toLine = (cells: readonly string[], style: (text: string) => string = same): string => {
    let line = '';
    let used = 0;
    cells.forEach((cell, column) => {
      const isLast = column === cells.length - 1;
      const shown = isLast && width !== undefined ? cut(cell, Math.max(12, width - used)) : cell;
      line += style(shown) + (isLast ? '' : ' '.repeat((widths[column] ?? 0) - visible(cell).length + 2));
      used += (widths[column] ?? 0) + 2;
    });
    return `${line.trimEnd()}\n`;
  };
  return [...(headings.length === 0 ? [] : [toLine(headings, paint.dim)]), ...rows.map((row) => toLine(row))].join('');
}

/** Prints a table on stdout, cut to the width of a terminal. */
export function printTable(headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const { stdout } = process;
  stdout.write(toTable(headings, rows, { paint, width: stdout.isTTY ? stdout.columns : undefined }));
}

/** Prints a value on stdout for a script, as one line of JSON. */
export function printJsonLine(value: unknown): void {
  process.stdout.write(`${printMessage(value)}\n`);
}

/** A value as JSON for people: indented, numbers exactly as they came. */
export function printPretty(value: unknown, indent = ''): string {
  if (value instanceof ExactNumber) return value.source;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const inner = `${indent}  `;
  const items = Array.isArray(value)
    ? value.map((item) => printPretty(item, inner))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${printPretty(item, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (items.length === 0) return `${open}${close}`;
  return `${open}\n${items.map((item) => `${inner}${item}`).join(',\n')}\n${indent}${close}`;
}

/** The text cut to so many characters, with a sign that it was. */
function cut(text: string, length: number): string {
  return visible(text).length <= length ? text : `${text.slice(0, Math.max(0, length - 1))}…`;
}

/** A length of time as people say it: `3 s`, `5 min`, `2 h`, `4 d`. */
export function toDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} d`;
}

/** One line on a terminal that is written over; nothing anywhere else. */
export function createProgressLine(stream: { isTTY?: boolean | undefined; columns?: number | undefined; write(text: string): unknown }) {
  let isShown = false;
  return {
    show: (text: string): void => {
      if (stream.isTTY !== true) return;
      stream.write(`\r\u001b[K${cut(text.replaceAll(/\s+/g, ' '), (stream.columns ?? 80) - 1)}`);
      isShown = true;
    },
    clear: (): void => {
      if (isShown) stream.write('\r\u001b[K');
      isShown = false;
    },
  };
}

function visible(text = ''): string {
  return stripVTControlCharacters(text);
}
