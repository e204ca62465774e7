import { basename } from 'node:path';
import type { ReadNotebook } from '../model/nbformat.js';
import { oldCopyName } from './copies.js';

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

/** What is to be known of a file that is not as nbformat wants it; undefined of one that is. */
export function fileNote(path: string, { mended, notebook, old }: Pick<ReadNotebook, 'mended' | 'notebook' | 'old'>): string | undefined {
  if (old)
    return `"${basename(path)}" is of nbformat ${old.nbformat} and shown converted. The first change writes it as nbformat 4.${notebook.minor}, and keeps the old file beside it as "${oldCopyName(path, old.nbformat)}".`;
  if (mended.length === 0) return undefined;
  return `"${basename(path)}" is not quite what nbformat 4.${notebook.minor} asks for: ${mended.join('; ')}. It is opened, and kept as it is.`;
}
