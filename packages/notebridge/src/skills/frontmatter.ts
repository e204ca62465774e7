/** A value of the frontmatter. Numbers, dates and the like stay the text that they are. */
export type FrontmatterValue = string | string[] | Record<string, string>;

export interface Frontmatter {
  fields: Map<string, FrontmatterValue>;
  /** What stands below. */
  body: string;
  /** What was odd, in sentences without a full stop; it was read as well as it could be. */
  problems: string[];
}

/**
 * Reads the YAML at the head of a Markdown file as far as such heads use it: texts (plain, quoted, in blocks, over several
 * lines), lists and one level of keys. Many are written by hand and not quite YAML, most often by a colon in a plain text: what
 * can be understood is taken, and the rest is reported.
 */
export function parseFrontmatter(text: string): Frontmatter {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  const first = lines.findIndex((line) => line.trim() !== '');
  if (first < 0 || lines[first]?.trimEnd() !== '---') {
    return { fields: new Map(), body: lines.join('\n').trim(), problems: ['has no frontmatter between lines of "---"'] };
  }
  const problems: string[] = [];
  let end = lines.findIndex((line, index) => index > first && /^(---|\.\.\.)\s*$/.test(line));
  let below = end + 1;
  if (end < 0) {
    problems.push('has a frontmatter without the "---" that ends it');
    end = lines.findIndex((line, index) => index > first && !/^(\s|- |$|[\w"'][\w ."'-]*:)/.test(line));
    if (end < 0) end = lines.length;
    below = end;
  }
  const fields = parseFields(lines.slice(first + 1, end), (offset, what) => problems.push(`has ${what} in line ${first + 2 + offset}`));
  return { fields, body: lines.slice(below).join('\n').trim(), problems };
}

type Report = (offset: number, what: string) => void;

const keyLine = /^(["']?)([\w][\w .-]*?)\1\s*:(?:\s+(.*)|)$/;

function parseFields(lines: readonly string[], report: Report): Map<string, FrontmatterValue> {
  const fields = new Map<string, FrontmatterValue>();
  for (let index = 0; index < lines.length; ) {
    const line = lines[index] ?? '';
    const [, , key, rest = ''] = keyLine.exec(line) ?? [];
    const start = index++;
    if (line.trim() === '' || line.startsWith('#')) continue;
    if (key === undefined) {
      report(start, 'something that is no "key: value"');
      continue;
    }
    // A list may stand as far left as its key.
    while (index < lines.length && /^(\s|$|- |-$)/.test(lines[index] ?? '')) index++;
    if (fields.has(key)) report(start, `"${key}" for the second time`);
    else
      fields.set(
        key,
        parseValue(rest, lines.slice(start + 1, index), (what) => report(start, what)),
      );
  }
  return fields;
}

function parseValue(rest: string, below: readonly string[], report: (what: string) => void): FrontmatterValue {
  const head = rest.trim();
  if (/^[|>][-+\d]*(\s+#.*)?$/.test(head)) return toBlock(head.startsWith('>'), below);
  const inner = below.map((line) => line.trim()).filter((line) => line !== '');
  if (/^["'[{]/.test(head)) return parseScalarOrFlow([head, ...inner].join(' '), report);
  const plain = withoutComment(head);
  if (plain !== '' || inner.length === 0) return toText([plain, ...inner.map(withoutComment)].join(' '));
  const items = inner.filter((line) => !line.startsWith('#'));
  if (items.every((line) => /^-(\s|$)/.test(line))) return items.map((line) => toText(parseOne(line.slice(1).trim(), report)));
  const pairs = items.map((line) => keyLine.exec(line));
  if (pairs[0] === null) return toText(items.join(' '));
  return toMap(below, report);
}

/** One level of keys; what is nested deeper stays the text that it is. */
function toMap(lines: readonly string[], report: (what: string) => void): Record<string, string> {
  const indent = Math.min(...lines.filter((line) => line.trim() !== '').map(indentOf));
  const fields = parseFields(
    lines.map((line) => line.slice(indent)),
    (_, what) => report(what),
  );
  return Object.fromEntries([...fields].map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]));
}

function parseScalarOrFlow(text: string, report: (what: string) => void): FrontmatterValue {
  const isQuoted = /^["']/.test(text);
  if (isQuoted) return parseOne(text, report);
  const [open, close] = text.startsWith('[') ? ['[', ']'] : ['{', '}'];
  const last = text.lastIndexOf(close);
  if (last < 0) {
    report(`a "${open}" that is not closed`);
    return text;
  }
  const parts = splitFlow(text.slice(1, last)).filter((part) => part !== '');
  if (open === '[') return parts.map((part) => parseOne(part, report));
  return Object.fromEntries(
    parts.map((part) => {
      const colon = part.search(/:(\s|$|["'[{])/);
      return [parseOne(part.slice(0, colon).trim(), report), parseOne(part.slice(colon + 1).trim(), report)];
    }),
  );
}

/** Parts between commas that stand neither in quotes nor in brackets. */
function splitFlow(text: string): string[] {
  const parts = text.match(/(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|\[[^\]]*\]|\{[^}]*\}|[^,])+/g) ?? [];
  return parts.map((part) => part.trim());
}

function parseOne(text: string, report: (what: string) => void): string {
  const double = /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/.exec(text)?.[1];
  if (double !== undefined) return double.replace(/\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)/g, toCharacter);
  const single = /^'((?:[^']|'')*)'\s*(?:#.*)?$/.exec(text)?.[1];
  if (single !== undefined) return single.replaceAll("''", "'");
  if (!/^["']/.test(text)) return toText(withoutComment(text));
  report('quotes that do not enclose the text');
  return text;
}

function toCharacter(_: string, code: string): string {
  const known: Record<string, string> = { n: '\n', t: '\t', r: '\r', 0: '\0', '"': '"', '\\': '\\', '/': '/' };
  if (code.length > 1) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
  return known[code] ?? code;
}

function toBlock(isFolded: boolean, below: readonly string[]): string {
  const first = below.find((line) => line.trim() !== '') ?? '';
  const lines = below.map((line) => line.slice(Math.min(indentOf(line), indentOf(first))).trimEnd());
  const text = isFolded
    ? lines.join('\n').replace(/(\S)\n(\n*)(?=\S)/g, (_, last: string, more: string) => last + (more || ' '))
    : lines.join('\n');
  return text.trim();
}

function toText(text: string): string {
  return /^(~|null|Null|NULL)$/.test(text) ? '' : text.trim();
}

function withoutComment(text: string): string {
  return text.startsWith('#') ? '' : text.replace(/\s+#.*$/, '');
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
