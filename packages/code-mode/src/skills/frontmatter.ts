import { smallestOf } from '@notebridge/protocol/util/long-lists';
import { isMap, isScalar, isSeq, type ParsedNode, parseDocument, Scalar } from 'yaml';

/** A value of the frontmatter. Numbers, dates and the like stay the text that they are. */
export type FrontmatterValue = string | string[] | Record<string, string>;

/** Some five times what the format wants. The worst one of this size takes a tenth of a second. */
const maxHeadLength = 8_192;

/**
 * Reads the YAML at the head of a Markdown file: texts, lists and one level of keys. Each key is read for itself, since many
 * heads are written by hand and not quite YAML, most often by a colon in a plain text: what can be understood is taken, and
 * the rest is reported: `problems` are sentences without a full stop. `body`: what stands below.
 */
export function parseFrontmatter(text: string): { fields: Map<string, FrontmatterValue>; body: string; problems: string[] } {
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
  const head = lines.slice(first + 1, end).join('\n');
  if (head.length > maxHeadLength) problems.push(`has a frontmatter of more than ${maxHeadLength} characters; the rest was not read`);
  const report: Report = (offset, what) => problems.push(`has ${what} in line ${first + 2 + offset}`);
  const fields = parseFields(head.slice(0, maxHeadLength).split('\n'), { report, mayNest: true });
  return { fields, body: lines.slice(below).join('\n').trim(), problems };
}

type Report = (offset: number, what: string) => void;

function parseFields(lines: readonly string[], { report, mayNest }: { report: Report; mayNest: boolean }): Map<string, FrontmatterValue> {
  const fields = new Map<string, FrontmatterValue>();
  for (let index = 0; index < lines.length; ) {
    const start = index++;
    if (/^(\s*|#.*)$/.test(lines[start] ?? '')) continue;
    // A list may stand as far left as its key.
    while (index < lines.length && /^(\s|$|- |-$)/.test(lines[index] ?? '')) index++;
    const say: Say = (what) => report(start, what);
    // Tabs are no indentation in YAML, and often meant as one.
    const entry = lines.slice(start, index).map((line) => line.replace(/^\t+/, (tabs) => '  '.repeat(tabs.length)));
    const field = parseField(entry.join('\n'), say) ?? parseLoosely(entry, { say, mayNest });
    if (field === undefined) say('something that is no "key: value"');
    else if (fields.has(field.key)) say(`"${field.key}" for the second time`);
    else fields.set(field.key, field.value);
  }
  return fields;
}

type Say = (what: string) => void;
interface Field {
  key: string;
  value: FrontmatterValue;
}

/** With these the value is what was meant: `@`, a backtick or `%` at its start, `\d` in quotes, a lone `*`. */
const harmless = new Set(['BAD_SCALAR_START', 'BAD_DQ_ESCAPE', 'BAD_ALIAS']);

/** One key, by the rules of YAML. Tags and anchors mean nothing here, and an alias is the text that it is: nothing is multiplied. */
function parseField(text: string, say: Say): Field | undefined {
  // The library compares each key with all before it: here a map does that.
  const { contents, errors } = parseDocument(text, { schema: 'failsafe', uniqueKeys: false, prettyErrors: false, logLevel: 'silent' });
  if (errors.some(({ code }) => !harmless.has(code)) || !isMap(contents) || contents.items.length !== 1) return undefined;
  const [pair] = contents.items;
  if (pair === undefined || !isScalar(pair.key)) return undefined;
  const key = toText(pair.key, text);
  return key === '' ? undefined : { key, value: toValue(pair.value, { text, say }) };
}

function toValue(node: ParsedNode | null, { text, say }: { text: string; say: Say }): FrontmatterValue {
  if (isSeq(node)) return node.items.map((item) => toText(item, text));
  if (!isMap(node)) return toText(node, text);
  const values = new Map<string, string>();
  for (const { key, value } of node.items) {
    const name = toText(key, text);
    if (values.has(name)) say(`"${name}" for the second time`);
    else values.set(name, isMap(value) || isSeq(value) ? JSON.stringify(toPlain(value, text)) : toText(value, text));
  }
  return Object.fromEntries(values);
}

function toPlain(node: ParsedNode | null, text: string): unknown {
  if (isSeq(node)) return node.items.map((item) => toPlain(item, text));
  if (isMap(node)) return Object.fromEntries(node.items.map(({ key, value }) => [toText(key, text), toPlain(value, text)]));
  return toText(node, text);
}

/** A scalar's value; anything else as it is written. */
function toText(node: ParsedNode | null, text: string): string {
  if (node === null) return '';
  if (!isScalar(node) || typeof node.value !== 'string') return text.slice(node.range[0], node.range[1]).trim();
  if (node.type === Scalar.BLOCK_FOLDED || node.type === Scalar.BLOCK_LITERAL) return node.value.trim();
  return node.type === Scalar.PLAIN && /^(~|null|Null|NULL)$/.test(node.value) ? '' : node.value;
}

/** One key whose value is no YAML: lists and one level of keys by their lines, anything else as a plain text. */
function parseLoosely(entry: readonly string[], { say, mayNest }: { say: Say; mayNest: boolean }): Field | undefined {
  const { key, rest } = splitKey(entry[0] ?? '') ?? {};
  if (key === undefined || rest === undefined) return undefined;
  const below = entry.slice(1).filter((line) => !/^\s*(#.*)?$/.test(line));
  const inner = below.map((line) => line.trim());
  if (rest === '' && inner.length > 0 && mayNest) {
    if (inner.every((line) => /^-(\s|$)/.test(line))) return { key, value: inner.map((line) => toItem(line.slice(1).trim(), say)) };
    if (splitKey(inner[0] ?? '') !== undefined) return { key, value: toMap(below, say) };
  }
  const text = [rest, ...inner.map(withoutComment)].join(' ').trim();
  const close = { '[': ']', '{': '}' }[rest[0] ?? ''];
  if (/^["']/.test(rest)) say('quotes that do not enclose the text');
  else if (close !== undefined)
    say(text.endsWith(close) ? `something between "${rest[0]}" and "${close}" that is no YAML` : `a "${rest[0]}" that is not closed`);
  return { key, value: text };
}

function toItem(text: string, say: Say): string {
  const value = (parseField(`item: ${text}`, say) ?? parseLoosely([`item: ${text}`], { say, mayNest: false }))?.value;
  return typeof value === 'string' ? value : text;
}

/** One level of keys; what is nested deeper stays the text that it is. */
function toMap(lines: readonly string[], say: Say): Record<string, string> {
  const indent = smallestOf(lines.map((line) => line.length - line.trimStart().length));
  const dedented = lines.map((line) => line.slice(indent));
  const fields = parseFields(dedented, { report: (_, what) => say(what), mayNest: false });
  return Object.fromEntries([...fields].map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]));
}

function splitKey(line: string): { key: string; rest: string } | undefined {
  const at = line.search(/:(\s|$)/);
  const key = line
    .slice(0, Math.max(0, at))
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2');
  return /^\w[\w .-]*$/.test(key) ? { key, rest: withoutComment(line.slice(at + 1).trim()) } : undefined;
}

function withoutComment(text: string): string {
  return text.startsWith('#') ? '' : text.replace(/\s#.*$/, '').trimEnd();
}
