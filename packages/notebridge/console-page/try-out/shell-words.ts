import { writeOutHidden } from '@notebridge/protocol/util/hidden-characters';

/** True if all of it can be seen as it is. */
export function isPlain(text: string): boolean {
  return writeOutHidden(text) === text;
}

/** As one word of a POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
