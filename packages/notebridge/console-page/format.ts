import { printJson } from '@notebridge/protocol/exact-json';
import { writeOutHidden } from '@notebridge/protocol/util/hidden-characters';

/** Of a text in a box, and of a line. A browser that works through megabytes stands still. Characters. */
const longestShown = 200_000;
const longestLine = 2000;
/** Steps by which JSON is indented at most. */
const deepest = 40;

/** A text of somebody else's on one line: what cannot be seen, or would move other text, is written out. */
export function oneLine(text: string): string {
  return text.length > longestLine ? `${writeOutHidden(text.slice(0, longestLine))}…` : writeOutHidden(text);
}

/** The same, over several lines. */
export function lines(text: string): string {
  return `${text
    .slice(0, longestShown)
    .split(/\r?\n/)
    .map((line) => line.split('\t').map(writeOutHidden).join('\t'))
    .join('\n')}${restOf(text)}`;
}

function restOf({ length }: string): string {
  return length > longestShown ? `\n… ${count(length - longestShown, 'more character')}` : '';
}

/** JSON for people: indented, every number with its digits. */
export function pretty(value: unknown): string {
  const text = toJson(value);
  return `${lines(indent(text.slice(0, longestShown)).slice(0, longestShown))}${restOf(text)}`;
}

function toJson(value: unknown): string {
  try {
    return printJson(value) ?? 'null';
  } catch (error) {
    if (error instanceof RangeError) return '"It is nested too deeply to be shown."';
    throw error;
  }
}

/** "0.4 ms", "38 ms", "1.2 s", "4 min", "3 h". */
export function duration(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} d`;
}

/** "12:03:44" of today; of another day the date stands before it. */
export function clock(time: string | number): string {
  const at = new Date(time);
  const ofDay = at.toLocaleTimeString('en-GB');
  return at.toDateString() === new Date().toDateString() ? ofDay : `${at.toLocaleDateString('en-CA')} ${ofDay}`;
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${digits(number)} ${number === 1 ? one : many}`;
}

export function digits(number: number): string {
  return number.toLocaleString('en');
}

export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Indents JSON text without reading its numbers. It may be cut off, within a string too. */
function indent(text: string): string {
  let depth = 0;
  const newLine = (): string => `\n${'  '.repeat(Math.min(depth, deepest))}`;
  return text.replaceAll(/"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|\{\}|\[\]|[{}[\],:]/g, (part) => {
    if (part === '{' || part === '[') depth++;
    if (part === '}' || part === ']') depth--;
    if (part === '{' || part === '[' || part === ',') return `${part}${newLine()}`;
    if (part === '}' || part === ']') return `${newLine()}${part}`;
    return part === ':' ? ': ' : part;
  });
}
