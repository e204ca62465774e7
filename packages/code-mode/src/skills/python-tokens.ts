/** A piece of Python source. A `line` stands before the first token of each logical line, with the column in which it begins. */
export type PythonToken =
  | { kind: 'line'; column: number }
  | { kind: 'string'; value: string; text: string }
  /** A name, a number, or one sign. */
  | { kind: 'word'; text: string };

const stringStart = /(?:[rRbBuUfFtT]{0,2})("""|'''|"|')/y;
const word = /[\p{L}\p{N}_]+|[^\s]/uy;

/**
 * The tokens of a Python source, as far as one must know them to read its signatures and texts. Never throws: of what is no
 * Python it gives something, in time linear in its length. A string with fields (`f"…"`) has no value, and is a word.
 */
export function toPythonTokens(source: string): PythonToken[] {
  const tokens: PythonToken[] = [];
  let depth = 0;
  let isNewLine = true;
  let lineStart = 0;
  for (let at = 0; at < source.length; ) {
    const sign = source[at] ?? '';
    if (sign === '\n') {
      at++;
      lineStart = at;
      if (depth === 0) isNewLine = true;
    } else if (sign === '#') {
      const end = source.indexOf('\n', at);
      at = end < 0 ? source.length : end;
    } else if (sign === '\\' && source[at + 1] === '\n') {
      at += 2;
    } else if (/\s/.test(sign)) {
      at++;
    } else {
      if (isNewLine) tokens.push({ kind: 'line', column: at - lineStart });
      isNewLine = false;
      const token = takeString(source, at) ?? takeWord(source, at);
      tokens.push(token);
      at += token.text.length;
      if ('([{'.includes(token.text)) depth++;
      if (')]}'.includes(token.text)) depth = Math.max(0, depth - 1);
    }
  }
  return tokens;
}

function takeWord(source: string, at: number): { kind: 'word'; text: string } {
  word.lastIndex = at;
  return { kind: 'word', text: word.exec(source)?.[0] ?? source[at] ?? '' };
}

function takeString(source: string, at: number): Exclude<PythonToken, { kind: 'line' }> | undefined {
  stringStart.lastIndex = at;
  const [start, quotes = ''] = stringStart.exec(source) ?? [];
  if (start === undefined) return undefined;
  const bodyAt = at + start.length;
  let end = bodyAt;
  while (end < source.length && !source.startsWith(quotes, end)) {
    if (quotes.length === 1 && source[end] === '\n') break;
    end += source[end] === '\\' ? 2 : 1;
  }
  const text = source.slice(at, Math.min(end + quotes.length, source.length));
  const prefix = start.slice(0, -quotes.length).toLowerCase();
  if (/[ftb]/.test(prefix)) return { kind: 'word', text };
  const body = source.slice(bodyAt, end);
  return { kind: 'string', value: prefix.includes('r') ? body : withoutEscapes(body), text };
}

const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', '\n': '', '\\': '\\', "'": "'", '"': '"' };

/** The escapes that stand in texts; rarer ones stay as they are written. */
function withoutEscapes(body: string): string {
  return body.replaceAll(/\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|([^xu]))/g, (whole, byte: string, unit: string, sign: string) => {
    const code = byte ?? unit;
    return code === undefined ? (escapes[sign] ?? whole) : String.fromCharCode(Number.parseInt(code, 16));
  });
}
