import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { ByteWriter } from './byte-writer.js';
import { compareCodePoints, isSameJson, keysOf } from './json.js';
import { type JsonStyle, printNotebookJson } from './json-printer.js';
import { type Child, type Container, isContainer, readContainer } from './json-spans.js';

/** A member that an object shall have. */
interface Member {
  readonly key: string;
  /** The original has it so, or lacks it and may go on to. */
  readonly isSame: boolean;
  /** Writes the value. `child` is the member of the original, if it has one. */
  readonly write: (child: Child | undefined) => void;
}

/** An item that a list shall have, or a member with its key. */
export interface Item {
  /** What it was in the original: the gap before it stays, too. */
  readonly child: Child | undefined;
  readonly write: () => void;
}

interface KeyedItem extends Item {
  readonly key: string;
}

/** The style of a container's children, one level deeper. */
export function innerStyle({ style, lineBreak }: FoundStyle): FoundStyle {
  return { style, lineBreak: style.indent === undefined ? '' : lineBreak + style.indent };
}

/** True if the keys of an object are, as nbformat writes them. */
export function isSorted({ children }: Pick<Container, 'children'>): boolean {
  const keys = children.map(({ key }) => key ?? '');
  return keys.every((key, index) => index === 0 || compareCodePoints(keys[index - 1] ?? '', key) <= 0);
}

/** Writes a JSON text anew with other values: what is the same is copied byte for byte, and what is new looks like what stands around it. */
export class JsonPatch extends ByteWriter {
  readonly #original: Uint8Array;

  constructor(original: Uint8Array) {
    super(original);
    this.#original = original;
  }

  /** `children`: all that the container shall have. */
  container({ open, close, children }: Container, items: readonly Item[], found: FoundStyle): void {
    const [first, second] = children;
    const last = children.at(-1);
    const inner = innerStyle(found).lineBreak;
    this.copy(open, open + 1);
    items.forEach(({ child, write }, index) => {
      if (index === 0) first ? this.copy(open + 1, first.start) : this.text(inner);
      else if (child?.previousEnd !== undefined) this.copy(child.previousEnd, child.start);
      else if (first && second) this.copy(first.end, second.start);
      else this.text(found.style.comma + inner);
      write();
    });
    if (last && items.length > 0) this.copy(last.end, close);
    else if (items.length > 0) this.text(found.lineBreak);
    else if (!first) this.copy(open + 1, close);
    this.copy(close, close + 1);
  }

  /** An object. `order`: the keys as objects of its kind have them, for new ones; by default sorted, where the object's own are, else behind them. */
  object(
    original: Container,
    members: readonly Member[],
    { found, order }: { found: FoundStyle; order?: readonly string[] | undefined },
  ): void {
    const byKey = new Map(members.map((member) => [member.key, member]));
    // Of equal keys the last one counts.
    const counting = new Map(original.children.map((child) => [child.key, child]));
    const kept = original.children.flatMap((child): KeyedItem[] => {
      const member = byKey.get(child.key ?? '');
      if (!member) return [];
      const isCopied = member.isSame || counting.get(child.key) !== child;
      return [{ key: member.key, child, write: () => (isCopied ? this.copy(child.start, child.end) : this.#changed(member, child)) }];
    });
    const added = members
      .filter(({ key, isSame }) => !isSame && !counting.has(key))
      .map((member): KeyedItem => {
        const write = (): void => {
          this.text(found.style.quote(member.key) + found.style.colon);
          member.write(undefined);
        };
        return { key: member.key, child: undefined, write };
      });
    this.container(original, order ? placeByOrder(kept, added, order) : placeByKey(kept, added, original), found);
  }

  /** A value in the place of another; of objects only what differs is written. */
  value(child: Child | undefined, { from, to, found }: { from: unknown; to: unknown; found: FoundStyle }): void {
    if (child && isSameJson(from, to)) return this.copy(child.value, child.end);
    const original = child && isContainer(this.#original, child.value) ? readContainer(this.#original, child.value) : undefined;
    const own = original ? styleAt(this.#original, original, found) : found;
    if (original && isJsonObject(from) && isJsonObject(to)) this.object(original, this.#members(from, to, innerStyle(own)), { found: own });
    else this.text(printNotebookJson(to, own.style, own.lineBreak));
  }

  #changed(member: Member, child: Child): void {
    this.copy(child.start, child.value);
    member.write(child);
  }

  #members(from: JsonObject, to: JsonObject, found: FoundStyle): Member[] {
    return keysOf(to).map((key) => ({
      key,
      isSame: Object.hasOwn(from, key) && isSameJson(from[key], to[key]),
      write: (child) => this.value(child, { from: from[key], to: to[key], found }),
    }));
  }
}

/** New members among the others, as objects of this kind have them; what no such object has comes last. */
function placeByOrder(kept: readonly KeyedItem[], added: readonly KeyedItem[], order: readonly string[]): KeyedItem[] {
  const ranks = new Map(order.map((key, rank) => [key, rank]));
  const rankOf = ({ key }: KeyedItem) => ranks.get(key) ?? Number.POSITIVE_INFINITY;
  const items = [...kept];
  for (const item of added) {
    const rank = rankOf(item);
    const at = rank === Number.POSITIVE_INFINITY ? -1 : items.findIndex((other) => rank < rankOf(other));
    items.splice(at === -1 ? items.length : at, 0, item);
  }
  return items;
}

/** New members among others whose keys are sorted, else behind them. */
function placeByKey(kept: readonly KeyedItem[], added: readonly KeyedItem[], { children }: Pick<Container, 'children'>): KeyedItem[] {
  if (children.length === 0 || !isSorted({ children })) return [...kept, ...added];
  const waiting = added.toSorted((one, other) => compareCodePoints(one.key, other.key));
  const items: KeyedItem[] = [];
  let next = 0;
  for (const item of kept) {
    for (let one = waiting[next]; one !== undefined && compareCodePoints(one.key, item.key) < 0; one = waiting[++next]) items.push(one);
    items.push(item);
  }
  return [...items, ...waiting.slice(next)];
}

/** A style, and the line break of the line in which the object or list begins that it was found at. */
export interface FoundStyle {
  readonly style: JsonStyle;
  /** Empty where all stands in one line. */
  readonly lineBreak: string;
}

const decoder = new TextDecoder();
/** The last line break of a gap between tokens, with the indentation behind it. */
const lastBreak = /\r?\n[ \t]*$/;

/** How an object or list is written, as its gaps show; for what they do not show, `otherwise`. */
export function styleAt(bytes: Uint8Array, { open, close, children }: Container, otherwise: FoundStyle): FoundStyle {
  const [first, second] = children;
  const last = children.at(-1);
  if (!first || !last) return otherwise;
  const textOf = (start: number, end: number) => decoder.decode(bytes.subarray(start, end));
  const inner = textOf(open + 1, first.start).match(lastBreak)?.[0];
  const outer = textOf(last.end, close).match(lastBreak)?.[0] ?? '';
  const colon = first.key === undefined ? otherwise.style.colon : textOf(first.keyEnd, first.value);
  const gap = second && textOf(first.end, second.start);
  if (inner === undefined) {
    const comma = gap ?? (colon.endsWith(' ') ? ', ' : ',');
    return { style: { ...otherwise.style, indent: undefined, comma, colon }, lineBreak: '' };
  }
  const comma = gap === undefined ? ',' : gap.replace(lastBreak, '');
  return {
    style: { ...otherwise.style, indent: inner.startsWith(outer) ? inner.slice(outer.length) : '', comma, colon },
    lineBreak: outer,
  };
}

/**
 * How a text spells strings: programs differ in which characters they escape (all beyond ASCII, `<` as `\u003c`). A character is escaped
 * if the text has it in no other way.
 */
export function quoteAs(bytes: Uint8Array): (text: string) => string {
  const { codes, isUpperCase } = escapesIn(bytes);
  if (codes.size === 0) return JSON.stringify;
  const isAscii = [...codes].some((code) => code > 0x7f) && !bytes.some((byte) => byte > 0x7f);
  const escaped = [...codes].filter((code) => isPlain(code) && !bytes.includes(code)).map((code) => String.fromCharCode(code));
  const hex = (code: number) => code.toString(16).padStart(4, '0');
  const spell = (unit: string) => `\\u${isUpperCase ? hex(unit.charCodeAt(0)).toUpperCase() : hex(unit.charCodeAt(0))}`;
  return (text) => {
    let quoted = JSON.stringify(text);
    for (const character of escaped) quoted = quoted.replaceAll(character, spell(character));
    // Both halves of a pair are escaped, as all programs do.
    return isAscii ? quoted.replaceAll(/[\u0080-\uffff]/g, spell) : quoted.replaceAll(/[\u2028\u2029]/g, keepOr(codes, spell));
  };
}

function keepOr(codes: ReadonlySet<number>, spell: (unit: string) => string): (unit: string) => string {
  return (unit) => (codes.has(unit.charCodeAt(0)) ? spell(unit) : unit);
}

/** ASCII that is no part of the spelling itself: neither quote nor backslash, letter or digit. */
function isPlain(code: number): boolean {
  return code >= 0x20 && code <= 0x7f && !/["\\\w]/.test(String.fromCharCode(code));
}

/** The characters that are spelled `\uXXXX`. */
function escapesIn(bytes: Uint8Array): { codes: ReadonlySet<number>; isUpperCase: boolean } {
  const codes = new Set<number>();
  let isUpperCase = false;
  for (let at = bytes.indexOf(0x5c); at !== -1; at = bytes.indexOf(0x5c, at)) {
    const isCode = bytes[at + 1] === 0x75;
    if (isCode) {
      const digits = decoder.decode(bytes.subarray(at + 2, at + 6));
      codes.add(Number.parseInt(digits, 16));
      isUpperCase ||= /[A-F]/.test(digits);
    }
    at += isCode ? 6 : 2;
  }
  return { codes, isUpperCase };
}
