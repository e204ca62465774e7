import { homedir } from 'node:os';
import { dirname, sep } from 'node:path';
import { isWithin } from './find-written.js';

/**
 * Looks for `folders` that a text may lead to which computes its paths: it has the path of the folder in it, or of a folder above, as it is or
 * without quotes and backslashes. The home folder and what is above it, and the folders of the root, stand in too many texts to say something.
 */
export function foldersNamedBy(text: string, folders: readonly string[]): string[] {
  const forms = [...new Set([text, withoutQuotes(text)])];
  return folders.filter((folder) =>
    forms.some((form) => names(form, folder) || foldersAbove(folder).some((above) => leadsOnFrom(form, above))),
  );
}

/** Looks for `folders` whose path a word has in it only when its quotes and backslashes are taken away, as a shell or a tool does. */
export function foldersHiddenIn(word: string, folders: readonly string[]): string[] {
  const shown = withoutQuotes(word);
  return shown === word ? [] : folders.filter((folder) => names(shown, folder) && !names(word, folder));
}

function withoutQuotes(text: string): string {
  return text.replace(/\\\n|["'\\]/g, '');
}

function names(text: string, folder: string): boolean {
  // With three parts it is itself without what stands for the first slash, too (`\x2f`).
  const path = folder.split(sep).length > 3 ? folder.slice(1) : folder;
  return new RegExp(`${toPattern(path)}(?![\\w.-])`).test(text);
}

/** Not where it goes on to something else there: that would be none of `folder`. */
function leadsOnFrom(text: string, above: string): boolean {
  const other = text.includes('..') ? '' : String.raw`(?!/+[\w.-]+(?:[/\s;|&<>()'"\x60]|$))`;
  return new RegExp(`${toPattern(above)}(?![\\w.-])${other}`).test(text);
}

function foldersAbove(folder: string): string[] {
  const above = dirname(folder);
  if (dirname(above) === above || dirname(dirname(above)) === dirname(above) || isWithin(homedir(), above)) return [];
  return [above, ...foldersAbove(above)];
}

function toPattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
