import { dirname, isAbsolute, sep } from 'node:path';
import { statOf } from './code-files.js';
import { looseWordsOf } from './shell-words.js';

/** The words within a word, but for one that is a path with blanks in it. */
export function fragmentsOf(word: string): string[] {
  if (!/[\s;|&()<>'"`]/.test(word)) return [word];
  const isPath = [word, word.slice(word.indexOf('=') + 1)].some((path) => isAbsolute(path) && isOnePath(path));
  return isPath ? [word] : looseWordsOf(word);
}

/** It is there, or its folder is there and the blanks are in the name of that. */
function isOnePath(path: string): boolean {
  if (statOf(path) !== undefined) return true;
  return !/\s/.test(path.slice(path.lastIndexOf(sep))) && statOf(dirname(path)) !== undefined;
}

/** Where a package comes from: `name@file:PATH`, `name@PATH`. */
export function sourcesOf(word: string): string[] {
  return /@((?:file:|\.{0,2}\/|~).*)$/is.exec(word)?.slice(1) ?? [];
}

/** `FOLDER:PLACE`, as containers take what they are shown. */
export function isVolume(path: string): boolean {
  const [folder = ''] = path.split(':', 1);
  return folder.length < path.length && statOf(folder)?.isDirectory() === true;
}

/** A word, and what stands in it behind `=`, `:` or a short option. */
export function partsOf(word: string): string[] {
  const behind = [/^[^=]*=(.*)$/s, /^-\w+?([./].*)$/s, /^-\w(.+)$/s].map((form) => form.exec(word)?.[1] ?? '');
  const separate = word.split(/[:=,]/);
  return [word, ...behind, ...(separate.length > 1 ? separate : [])].filter((part) => part !== '' && !part.startsWith('-'));
}
