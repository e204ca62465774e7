/** Rows above the last one that a cursor can be moved to: nested progress bars have a few. */
const maxRowsUp = 100;

/** Of a longer text, so many characters of its beginning and of its end are read: more would keep everyone else waiting. */
const maxEnd = 1_000_000;

/** One line while it is written: what was written before a carriage return shows where nothing was written over it. */
interface Row {
  /** Ended by a carriage return, the longest first; each is longer than all that came after it, or it would not show. */
  covered: string[];
  parts: string[];
}

/** A control sequence of a terminal (colours, movements), an operating-system command (title, link), a short one, or a run of text. */
const token =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /\x1b\[([0-9:;<=>?]{0,64})[ -/]{0,8}([@-~])|\x1b[\]P^_X][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|\x1b[()*+][0-9A-Za-z]|\x1b[@-Z\\^_=>78cDEHM]?|[\n\r\b\x07]|[^\x1b\n\r\b\x07]+/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const control = /[\x1b\r\b\x07]/;
const loneSurrogate = /\p{Surrogate}/gu;

/**
 * Printed text as a person reads it at the end: without codes of a terminal, and of lines that were written over, as progress bars are,
 * what they showed last. Halves of characters become U+FFFD. Takes time in proportion to the text, whatever it is.
 */
export function toPlainText(text: string): string {
  const rendered = control.test(text) ? renderEnds(text) : text;
  return rendered.replaceAll(loneSurrogate, '\ufffd');
}

function renderEnds(text: string): string {
  if (text.length <= 2 * maxEnd) return render(text);
  const lineEnd = text.lastIndexOf('\n', maxEnd - 1);
  const lineStart = text.indexOf('\n', text.length - maxEnd) + 1;
  const [end, start] = [lineEnd > 0 ? lineEnd + 1 : maxEnd, lineStart > 0 ? lineStart : text.length - maxEnd];
  const note = `[${start - end} characters with codes of a terminal left out here]`;
  return `${render(text.slice(0, end))}${note}\n${render(text.slice(start))}`;
}

function render(text: string): string {
  const rows: (Row | string)[] = [newRow()];
  let at = 0;
  const current = (): Row => {
    const row = rows[at];
    return typeof row === 'object' ? row : newRow();
  };
  const goTo = (index: number): void => {
    at = Math.max(0, rows.length - maxRowsUp, index);
    while (at >= rows.length) {
      rows.push(newRow());
      // Nothing reaches it any more.
      const left = rows.length - 1 - maxRowsUp;
      const row = rows[left];
      if (typeof row === 'object') rows[left] = toLine(row);
    }
    returnToStart(current());
  };
  for (const { 0: part, 1: parameters = '', 2: final } of text.matchAll(token)) {
    if (part === '\n') goTo(at + 1);
    else if (part === '\r') returnToStart(current());
    else if (part === '\b') takeBack(current());
    else if (final === 'A' || final === 'F') goTo(at - countOf(parameters));
    else if (final === 'B' || final === 'E') goTo(Math.min(rows.length - 1, at + countOf(parameters)));
    else if (final === 'K') erase(current(), parameters);
    else if (final === 'G' && countOf(parameters) === 1) returnToStart(current());
    else if (final === undefined && part !== '\x07' && part[0] !== '\x1b') current().parts.push(part);
  }
  return rows.map((row) => (typeof row === 'string' ? row : toLine(row))).join('\n');
}

function newRow(): Row {
  return { covered: [], parts: [] };
}

function countOf(parameters: string): number {
  return Math.max(1, Number.parseInt(parameters, 10) || 1);
}

function returnToStart(row: Row): void {
  if (row.parts.length === 0) return;
  const text = row.parts.join('');
  while ((row.covered.at(-1)?.length ?? Number.POSITIVE_INFINITY) <= text.length) row.covered.pop();
  row.covered.push(text);
  row.parts = [];
}

function takeBack({ parts }: Row): void {
  const last = parts.pop();
  if (last !== undefined && last.length > 1) parts.push(last.slice(0, -1));
}

/** To the end of the line, or all of it. */
function erase(row: Row, parameters: string): void {
  if (parameters === '1') return;
  row.covered = [];
  if (parameters === '2') row.parts = [];
}

function toLine({ covered, parts }: Row): string {
  let line = parts.join('');
  for (const earlier of covered.toReversed()) if (earlier.length > line.length) line += earlier.slice(line.length);
  return line;
}
