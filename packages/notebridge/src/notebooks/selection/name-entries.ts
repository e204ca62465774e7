import { BridgeError } from '../../core/errors.js';
import { quote } from '../../util/quote.js';
import type { NotebookEntry } from './notebook-directory.js';

/** `text`: what was named and is none of them. */
export function toNotOpen(text: unknown, entries: readonly NotebookEntry[]): BridgeError {
  return new BridgeError(
    'bad_notebook',
    `No notebook ${quote(text)} is open. There is ${nameEntries(entries)}. connect_notebook opens others.`,
  );
}

export function nameEntries(entries: readonly NotebookEntry[]): string {
  if (entries.length === 0) return 'none';
  return entries.map(({ id, title, location, kind }) => `${id} (${kind}: ${location ?? title})`).join(', ');
}
