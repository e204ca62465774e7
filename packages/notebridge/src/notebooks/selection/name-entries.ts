import { BridgeError } from '../../core/errors.js';
import { quote } from '../../util/quote.js';
import type { NotebookEntry, NotebookList } from './notebook-directory.js';

/** `text`: what was named and is none of them. */
export function toNotOpen(text: unknown, list: NotebookList): BridgeError {
  const fault =
    typeof text === 'string' ? `No notebook ${quote(text)} is open.` : '"notebook" names none: it is an id, as in list_notebooks.';
  return new BridgeError('bad_notebook', `${fault} There is ${nameList(list)}. connect_notebook opens others.`);
}

/** With what is not known of. */
export function nameList({ entries, silent }: NotebookList): string {
  const unknown = silent.map((why) => `; others are not known: ${why.replace(/\.$/, '')}`);
  return `${nameEntries(entries)}${unknown.join('')}`;
}

function nameEntries(entries: readonly NotebookEntry[]): string {
  if (entries.length === 0) return 'none';
  return entries.map(({ id, title, location, kind }) => `${id} (${kind}: ${location ?? title})`).join(', ');
}
