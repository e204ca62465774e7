import { sameStart } from '../model/text.js';
import { diffArrays, type Text } from './yjs.js';

/**
 * Makes a shared text another one by as little as possible: where lines stay, what others type into them at the same time stays too.
 * To be called in a transaction.
 */
export function editText(text: Text, target: string): void {
  const source = text.toString();
  if (source === target) return;
  // From the end, so that the places before it stay what they are.
  for (const { start, removed, added } of changesOf(source, target).reverse()) {
    if (removed > 0) text.delete(start, removed);
    if (added !== '') text.insert(start, added);
  }
}

interface TextChange {
  start: number;
  removed: number;
  added: string;
}

/** More different lines than this are one change: comparing them would take longer than it is worth. */
const maxDifferentLines = 500;

function changesOf(source: string, target: string): TextChange[] {
  const pieces = diffArrays(linesOf(source), linesOf(target), { maxEditLength: maxDifferentLines });
  if (!pieces) return [trim(source, target, 0)];
  const changes: { start: number; from: string; to: string }[] = [];
  let at = 0;
  let isOpen = false;
  for (const { value, added, removed } of pieces) {
    const text = value.join('');
    if (added || removed) {
      if (!isOpen) changes.push({ start: at, from: '', to: '' });
      const change = changes.at(-1);
      if (change && added) change.to += text;
      else if (change) change.from += text;
    }
    isOpen = added === true || removed === true;
    if (!added) at += text.length;
  }
  return changes.map(({ start, from, to }) => trim(from, to, start));
}

/** Without what both have at the beginning and at the end. */
function trim(from: string, to: string, start: number): TextChange {
  const shorter = Math.min(from.length, to.length);
  const head = sameStart(from, to);
  let tail = 0;
  while (tail < shorter - head && from.at(-1 - tail) === to.at(-1 - tail)) tail++;
  // No character is cut in two.
  if (tail > 0 && isLowHalf(from.charCodeAt(from.length - tail))) tail--;
  return { start: start + head, removed: from.length - head - tail, added: to.slice(head, to.length - tail) };
}

function linesOf(text: string): string[] {
  return text.split(/(?<=\n)/);
}

function isLowHalf(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
