import { decodeEntities } from '../../outputs/entities.js';
import { MarkupReader, type MarkupToken } from '../../outputs/markup-tokens.js';
import { attributesOf, endsParagraph, htmlTags, impliedEnds, plainBoxes, rawTags, silentTags, voidTags } from './html-names.js';
import { safeDeclarations, safeSheet } from './safe-css.js';

/** A part of foreign HTML that a browser can take in at once. */
export interface HtmlPiece {
  /** Well nested, of known elements and attributes only. */
  readonly html: string;
  /** Of style attributes; `nb-style` has the index. */
  readonly styles: readonly string[];
  /** Of style elements, up to here. */
  readonly sheets: readonly string[];
}

/** Of one piece. Elements and texts; an image counts for `imageCost`. */
export const pieceLimits = { maxNodes: 10_000, maxCharacters: 50_000 };

const imageCost = 50;
const maxDepth = 64;
/** A browser measures a table by measuring those in its cells, twice. */
const maxTables = 5;
const maxAttribute = 2000;
const maxImage = 16_000_000;
const maxSheets = 300_000;
/** A cell that spans others costs a browser as much as they would. */
const maxSpan = 200;

const knownTags = new Set(htmlTags);

/**
 * Writes foreign HTML anew, piece by piece: bounded in depth and number before a browser's parser sees it, since that one multiplies what
 * is nested wrongly. Whether it is harmless is not decided here but by the sanitiser, which gets each piece.
 */
export class HtmlBounder {
  readonly #reader: MarkupReader;
  readonly #attributes: ReadonlySet<string>;
  readonly #costOfPart: ((mark: string) => number) | undefined;
  readonly #sheets: string[] = [];
  /** Open elements, with the tag that opens each anew in the next piece. */
  readonly #open: { readonly name: string; readonly tag: string; readonly style: string | undefined }[] = [];
  /** Opened too deep, and passed over: their ends are passed over too. */
  readonly #passedOver = new Map<string, number>();
  #sheetCharacters = 0;
  #pending: { from: number; to: number } | undefined;
  #isAtEnd = false;
  #out: string[] = [];
  #styles: string[] = [];
  #nodes = 0;
  #characters = 0;

  /** `isApart`: it goes into a shadow tree, and keeps its classes and names. `costOfPart`: about how many elements the part is that a mark names. */
  constructor(source: string, { isApart, costOfPart }: { isApart: boolean; costOfPart?: (mark: string) => number }) {
    this.#reader = new MarkupReader(source);
    this.#attributes = new Set(isApart ? attributesOf.apart : attributesOf.page);
    this.#costOfPart = costOfPart;
  }

  get hasMore(): boolean {
    return !this.#isAtEnd;
  }

  /** Of the source, from 0 to 1. */
  get progress(): number {
    return this.#reader.at / Math.max(1, this.#reader.source.length);
  }

  next(): HtmlPiece {
    this.#out = [];
    this.#styles = [];
    this.#nodes = 0;
    this.#characters = 0;
    for (const { tag, style } of this.#open) this.#out.push(this.#withStyle(tag, style));
    while (!this.#isAtEnd && this.#nodes < pieceLimits.maxNodes && this.#characters < pieceLimits.maxCharacters) this.#step();
    for (const { name } of this.#open.toReversed()) this.#out.push(`</${name}>`);
    return { html: this.#out.join(''), styles: this.#styles, sheets: [...this.#sheets] };
  }

  #step(): void {
    if (this.#pending) return this.#text(this.#pending);
    const token = this.#reader.next();
    if (!token) this.#isAtEnd = true;
    else if (token.kind === 'text') this.#text(token);
    else if (token.kind === 'literal') this.#put(escaped(token.text.slice(0, pieceLimits.maxCharacters)));
    else if (token.kind === 'close') this.#close(token.name.toLowerCase());
    else this.#element(token);
  }

  /** A text that is too long for this piece goes on in the next one. */
  #text({ from, to }: { from: number; to: number }): void {
    const { source } = this.#reader;
    const room = pieceLimits.maxCharacters - this.#characters;
    const end = to - from <= room ? to : cutBefore(source, from, from + Math.max(1, room));
    this.#pending = end < to ? { from: end, to } : undefined;
    this.#put(withBreaks(escaped(source.slice(from, end))));
    if (this.#pending) this.#characters = pieceLimits.maxCharacters;
  }

  #put(text: string): void {
    this.#out.push(text);
    this.#nodes++;
    this.#characters += text.length;
  }

  #element(token: Extract<MarkupToken, { kind: 'open' }>): void {
    const written = token.name.toLowerCase();
    const name = plainBoxes.has(written) ? 'div' : written;
    if (rawTags.has(name)) return this.#raw(name);
    if (silentTags.has(name)) return token.isClosed ? undefined : this.#reader.passElement(name, rawTags);
    if (!knownTags.has(name)) return;
    this.#endImplied(name);
    const isVoid = voidTags.has(name);
    const isTooDeep = this.#open.length >= maxDepth || (name === 'table' && this.#countOpen('table') >= maxTables);
    if (isTooDeep && !isVoid) return void this.#passedOver.set(name, (this.#passedOver.get(name) ?? 0) + 1);
    const { tag, style } = this.#tag(name, token.attributes);
    this.#out.push(this.#withStyle(tag, style));
    this.#nodes += name === 'img' ? imageCost : 1;
    this.#characters += tag.length > maxAttribute ? 0 : tag.length;
    if (!isVoid) this.#open.push({ name, tag, style });
  }

  #tag(name: string, attributes: readonly (readonly [string, string])[]): { tag: string; style: string | undefined } {
    const written = new Map<string, string>();
    let style: string | undefined;
    for (const [rawName, value] of attributes) {
      const key = rawName.toLowerCase();
      if (key === 'style') style ??= safeDeclarations(decodeEntities(value)) || undefined;
      else if (key !== 'nb-style' && this.#attributes.has(key) && !written.has(key)) {
        const isImage = name === 'img' && key === 'src';
        if (value.length > (isImage ? maxImage : maxAttribute)) continue;
        const span = key.endsWith('span') ? Math.min(maxSpan, Number.parseInt(value, 10) || 1) : undefined;
        written.set(key, String(span ?? value));
        this.#nodes += span ?? (key === 'nb-part' ? (this.#costOfPart?.(value) ?? 0) : 0);
      }
    }
    const pairs = [...written].map(([key, value]) => ` ${key}="${escaped(value).replaceAll('"', '&quot;')}"`);
    return { tag: `<${name}${pairs.join('')}>`, style };
  }

  #withStyle(tag: string, style: string | undefined): string {
    if (style === undefined) return tag;
    return `${tag.slice(0, -1)} nb-style="${this.#styles.push(style) - 1}">`;
  }

  #raw(name: string): void {
    const text = this.#reader.rawText(name);
    if (name !== 'style' || this.#sheetCharacters > maxSheets) return;
    this.#sheetCharacters += text.length;
    this.#sheets.push(safeSheet(text));
  }

  #endImplied(name: string): void {
    const implied = impliedEnds[name];
    if (implied) this.#closeLast(implied.ends, implied.within);
    if (endsParagraph.has(name)) this.#closeLast(['p'], ['table']);
  }

  /** Closes the last one open of these names, and what is open in it, but not out of one of `within`. */
  #closeLast(names: readonly string[], within: readonly string[]): void {
    const index = this.#open.findLastIndex((each) => names.includes(each.name));
    if (index === -1 || this.#open.slice(index).some((each) => within.includes(each.name))) return;
    while (this.#open.length > index) this.#out.push(`</${this.#open.pop()?.name}>`);
  }

  #close(written: string): void {
    const name = plainBoxes.has(written) ? 'div' : written;
    const over = this.#passedOver.get(name) ?? 0;
    if (over > 0) return void this.#passedOver.set(name, over - 1);
    // What ends something outside the table's cell that it stands in is a mistake.
    this.#closeLast([name], tableParts.has(name) ? [] : ['td', 'th']);
  }

  #countOpen(name: string): number {
    return this.#open.filter((each) => each.name === name).length;
  }
}

const tableParts = new Set(['table', 'td', 'th', 'tr', 'tbody', 'thead', 'tfoot']);

/** Entities stay; what could begin or end a tag does not. */
function escaped(text: string): string {
  return text.replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A browser tries every place of a long word to break it, and measures the rest of it each time. */
function withBreaks(text: string): string {
  return text.replace(/[^\s&;]{200}/gu, '$&<wbr>');
}

/** Not within an entity or a pair of surrogates. */
function cutBefore(source: string, from: number, at: number): number {
  const ampersand = source.lastIndexOf('&', at - 1);
  const end = ampersand > from && ampersand > at - 40 ? ampersand : at;
  return /[\uDC00-\uDFFF]/.test(source[end] ?? '') && end - 1 > from ? end - 1 : end;
}
