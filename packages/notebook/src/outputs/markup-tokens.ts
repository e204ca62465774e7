/** A piece of HTML or SVG as it is written. Text and attribute values keep their entities. */
export type MarkupToken =
  | { readonly kind: 'text'; readonly from: number; readonly to: number }
  /** CDATA of SVG: text in which nothing is an entity. */
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'open'; readonly name: string; readonly attributes: readonly Attribute[]; readonly isClosed: boolean }
  | { readonly kind: 'close'; readonly name: string };

type Attribute = readonly [name: string, value: string];

const tagName = /<(\/?)([a-z][^\s/>]*)/iy;
const attribute = /[\s/]*([^\s/>=][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>][^\s>]*)))?/y;
const tagEnd = /[\s/]*>/y;
/** Of one tag; the others are passed over. */
const maxAttributes = 64;

/**
 * Reads markup in one pass, in time that grows with its length only, whatever it holds: nothing is looked for twice. It need not agree
 * with a browser's parser on broken markup, because what it reads is written anew, and only that reaches a browser.
 */
export class MarkupReader {
  readonly source: string;
  at = 0;

  constructor(source: string) {
    this.source = source;
  }

  /** Undefined at the end. */
  next(): MarkupToken | undefined {
    const { source } = this;
    while (this.at < source.length) {
      const from = this.at;
      if (source[from] !== '<') return this.#text(from, from);
      if (source.startsWith('<!--', from)) this.#passBehind('-->', from + 4);
      else if (source.startsWith('<![CDATA[', from)) {
        this.#passBehind(']]>', from + 9);
        return { kind: 'literal', text: source.slice(from + 9, Math.max(from + 9, this.at - 3)) };
      } else if (source[from + 1] === '!' || source[from + 1] === '?') this.#passDeclaration(from);
      else {
        tagName.lastIndex = from;
        const start = tagName.exec(source);
        return start ? this.#tag(start) : this.#text(from, from + 1);
      }
    }
    return undefined;
  }

  /** The text up to the closing tag of an element whose content is no markup, and past that tag. */
  rawText(name: string): string {
    const from = this.at;
    // Not in a copy in small letters, where places differ: there are letters that become two.
    const closing = new RegExp(`</${name}`, 'gi');
    closing.lastIndex = from;
    const end = closing.exec(this.source)?.index;
    if (end === undefined) this.at = this.source.length;
    else this.#passBehind('>', end);
    return this.source.slice(from, end);
  }

  /** Behind the end of the element that has just begun. `raw`: elements whose content is no markup. */
  passElement(name: string, raw: ReadonlySet<string> = new Set()): void {
    for (let depth = 1; depth > 0; ) {
      const token = this.next();
      if (!token) return;
      if (token.kind !== 'open' && token.kind !== 'close') continue;
      const found = token.name.toLowerCase();
      if (token.kind === 'open' && raw.has(found)) this.rawText(found);
      if (found !== name.toLowerCase()) continue;
      if (token.kind === 'close') depth--;
      else if (!token.isClosed) depth++;
    }
  }

  #text(from: number, searchFrom: number): MarkupToken {
    const end = this.source.indexOf('<', searchFrom);
    this.at = end === -1 ? this.source.length : end;
    return { kind: 'text', from, to: this.at };
  }

  #passBehind(mark: string, from: number): void {
    const end = this.source.indexOf(mark, from);
    this.at = end === -1 ? this.source.length : end + mark.length;
  }

  /** A document type may hold declarations of entities in brackets. */
  #passDeclaration(from: number): void {
    const end = this.source.indexOf('>', from);
    const bracket = this.source.slice(from, end === -1 ? undefined : end).indexOf('[');
    this.#passBehind(bracket === -1 ? '>' : ']', bracket === -1 ? from : from + bracket);
    if (bracket !== -1) this.#passBehind('>', this.at);
  }

  /** Undefined for a tag without an end, which takes the rest of the text with it. */
  #tag([start, slash, name = '']: RegExpExecArray): MarkupToken | undefined {
    const { source } = this;
    this.at += start.length;
    const attributes: Attribute[] = [];
    while (this.at < source.length) {
      tagEnd.lastIndex = this.at;
      const end = tagEnd.exec(source)?.[0];
      if (end !== undefined) {
        this.at += end.length;
        return slash ? { kind: 'close', name } : { kind: 'open', name, attributes, isClosed: end.includes('/') };
      }
      attribute.lastIndex = this.at;
      const found = attribute.exec(source);
      if (found) {
        this.at += found[0].length;
        if (attributes.length < maxAttributes) attributes.push([found[1] ?? '', found[2] ?? found[3] ?? found[4] ?? '']);
      } else if (source[this.at] === '=' && !/["']/.test(source[this.at + 1] ?? '')) this.at++;
      // A quote that never ends.
      else this.at = source.length;
    }
    return undefined;
  }
}
