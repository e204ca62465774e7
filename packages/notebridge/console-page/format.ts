import { writeOutHidden } from '../src/util/hidden-characters.js';

/** A text of somebody else's on one line: what cannot be seen is written out. */
export function oneLine(text: string): string {
  return writeOutHidden(text);
}

/** The same, over several lines. */
export function lines(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => line.split('\t').map(writeOutHidden).join('\t'))
    .join('\n');
}

/** "3 ms", "1.2 s", "4 min". */
export function duration(ms: number): string {
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} d`;
}

/** "12:03:44" of today, with the date before it of any other day. */
export function clock(iso: string): string {
  const at = new Date(iso);
  const time = at.toLocaleTimeString('en-GB');
  return at.toDateString() === new Date().toDateString() ? time : `${at.toLocaleDateString('en-CA')} ${time}`;
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : many}`;
}

export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** JSON for people: indented, with what cannot be seen written out. */
export function pretty(value: unknown): string {
  return lines(JSON.stringify(value, undefined, 2) ?? '');
}
