/** A notebook's text in parts: each cell as it stands there, what stands between two of them, and all that is before and behind them. */
export interface CellTexts {
  readonly head: string;
  readonly cells: readonly string[];
  /** `gaps[i]` stands before cell `i`. */
  readonly gaps: readonly string[];
  readonly tail: string;
}

/** Written for the tests, with nothing of the reader and the printer that they try. */
export function cellTextsOf(text: string): CellTexts {
  const list = membersOf(text, text.indexOf('{')).findLast(({ key }) => key === 'cells');
  if (list === undefined) throw new Error('The text has no "cells".');
  const items = childrenOf(text, list.start);
  const at = (start: number, end: number) => text.slice(start, end);
  const gaps = items.map(({ start }, index) => at(items[index - 1]?.end ?? list.start + 1, start));
  const end = items.at(-1)?.end ?? list.start + 1;
  return { head: at(0, list.start + 1), cells: items.map((item) => at(item.start, item.end)), gaps, tail: text.slice(end) };
}

/** The members of an object that is a text of its own, each as it stands there. */
export function memberTextsOf(object: string): Map<string, string> {
  return new Map(membersOf(object, 0).map(({ key, start, end }) => [key, object.slice(start, end)]));
}

interface Span {
  readonly start: number;
  readonly end: number;
}

function membersOf(text: string, at: number): (Span & { key: string })[] {
  const spans = childrenOf(text, at);
  return spans.flatMap((key, index) => {
    const value = spans[index + 1];
    return index % 2 === 1 || !value ? [] : [{ key: JSON.parse(text.slice(key.start, key.end)) as string, ...value }];
  });
}

/** Keys and values of an object in turn, or the items of a list. */
function childrenOf(text: string, at: number): Span[] {
  const token = /"(?:[^"\\]|\\.)*"|[^\s"{}[\],:]+|[{}[\],:]/gs;
  token.lastIndex = at + 1;
  const spans: Span[] = [];
  let depth = 0;
  let start = 0;
  for (let found = token.exec(text); found; found = token.exec(text)) {
    const [word] = found;
    const isOpening = word === '{' || word === '[';
    const isClosing = word === '}' || word === ']';
    if (isClosing && depth === 0) return spans;
    if (isOpening && depth++ === 0) start = found.index;
    if (isClosing) depth--;
    if (depth > 0 || word === ',' || word === ':') continue;
    spans.push({ start: isClosing ? start : found.index, end: token.lastIndex });
  }
  throw new Error('The list or object has no end.');
}
