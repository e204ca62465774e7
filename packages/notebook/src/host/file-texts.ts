import { basename } from 'node:path';

/** What a person reads in a conflict, and may do. */
export function removedText(path: string): string {
  return `"${basename(path)}" was removed or renamed by another program. Keep what is here to write it again, or let it be gone.`;
}

export function invalidText(path: string, detail: string): string {
  return `Another program changed "${basename(path)}", and it cannot be read: ${detail} Fix the file, or keep what is here.`;
}

export function changedText(path: string, overlaps: readonly string[]): string {
  const shown = overlaps.slice(0, 5).join(', ');
  const more = overlaps.length > 5 ? `, and ${overlaps.length - 5} more` : '';
  return `Changed both here and in "${basename(path)}": ${shown}${more}. Keep yours or the file's for these; all else is kept from both.`;
}
