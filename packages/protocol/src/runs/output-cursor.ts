/** An output of a cell, as far as reading on in it is concerned: of nbformat, on disk (lines) or in memory (one text). */
export interface ReadOutput {
  readonly output_type: string;
  readonly text?: unknown;
}

/** How far outputs have been read: so many whole ones, and so many characters of whole lines of the next, if that is text. */
export interface OutputCursor {
  /** How often they had been cleared: what was read before the last time is gone. */
  readonly clears: number;
  readonly outputs: number;
  readonly characters: number;
  /** How long the unfinished line was behind them, which is answered again as long as it is the last. */
  readonly unfinished: number;
}

/** As agents pass it back. */
export function toCursor(outputs: readonly ReadOutput[], clears: number): string {
  const last = outputs.at(-1);
  if (last?.output_type !== 'stream') return `${clears}.${outputs.length}.0.0`;
  // Text grows at its end, and only its last line changes.
  const line = unfinishedLine(outputs);
  return `${clears}.${outputs.length - 1}.${textOfStream(last).length - line.length}.${line.length}`;
}

/** The last line of the last output, if that is text and the line has no end yet. */
export function unfinishedLine(outputs: readonly ReadOutput[]): string {
  const last = outputs.at(-1);
  if (last?.output_type !== 'stream') return '';
  const text = textOfStream(last);
  return text.slice(text.lastIndexOf('\n') + 1);
}

/** Undefined for a text that is none. */
export function parseCursor(text: string): OutputCursor | undefined {
  if (!/^\d{1,9}\.\d{1,9}\.\d{1,15}\.\d{1,15}$/.test(text)) return undefined;
  const [clears = 0, outputs = 0, characters = 0, unfinished = 0] = text.split('.').map(Number);
  return { clears, outputs, characters, unfinished };
}

/** What is behind the cursor; all, if the outputs have begun anew since. The first may be a part of a text, as one string. */
export function outputsSince<Output extends ReadOutput>(
  outputs: readonly Output[],
  clears: number,
  cursor: OutputCursor | undefined,
): readonly Output[] {
  if (cursor === undefined || cursor.clears !== clears) return outputs;
  const [first, ...rest] = outputs.slice(cursor.outputs);
  if (first?.output_type !== 'stream') return first === undefined ? [] : [first, ...rest];
  const since = textOfStream(first).slice(cursor.characters);
  return since === '' ? rest : [{ ...first, text: since }, ...rest];
}

/** Tells later whether a reader knows all that there is then: one that was answered with this cursor, or with nothing yet. `outputs`: those of now. */
export function seenSoFar(
  cursor: string | undefined,
  outputs: readonly ReadOutput[],
): (later: readonly ReadOutput[], clears: number) => boolean {
  const line = unfinishedLine(outputs);
  if (cursor === undefined) return (later) => later.length === 0;
  // A line that is written anew, as a progress bar is, may stay as long as it was.
  return (later, clears) => toCursor(later, clears) === cursor && unfinishedLine(later) === line;
}

/** The text of a stream, which may be kept in lines. */
export function textOfStream({ text }: ReadOutput): string {
  return Array.isArray(text) ? text.join('') : String(text ?? '');
}
