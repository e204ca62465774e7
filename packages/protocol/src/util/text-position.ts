/** A place in a text as editors show it: both count from 1, columns in characters. */
export interface TextPosition {
  line: number;
  column: number;
}

/** Looks up the positions of offsets in one text; the lines are found once. */
export function positionsIn(text: string): (offset: number) => TextPosition {
  const starts = [0, ...Array.from(text.matchAll(/\r\n|\r|\n/g), (end) => end.index + end[0].length)];
  return (offset) => {
    const line = starts.findLastIndex((start) => start <= offset);
    return { line: line + 1, column: offset - (starts[line] ?? 0) + 1 };
  };
}

/** The line end that a text uses; `\n` if it has none. */
export function lineEndOf(text: string): '\r\n' | '\n' {
  return text.includes('\r\n') ? '\r\n' : '\n';
}
