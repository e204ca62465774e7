import type { CellContent, CellType, Notebook } from './cell.js';
import { diskKeysOf, diskValue, memberOf } from './disk-cell.js';
import { isSameJson, keysOf, toObject } from './json.js';
import { type FoundStyle, type Item, innerStyle, isSorted, JsonPatch, quoteAs, styleAt } from './json-patch.js';
import { nbformatStyle, printNotebookJson } from './json-printer.js';
import { type Child, type Container, readContainer, skipSpace } from './json-spans.js';
import { putBackLongStrings, type ThinText } from './long-strings.js';
import type { SplitText } from './outputs.js';
import { toLines } from './text.js';

/** Longer ones are printed anew each time: their text would be held twice. */
const maxKeptBytes = 10_000;

/**
 * A notebook's file as it was read: what the notebook is by now is written so that only the cells differ that do, and those look like the
 * others. It never changes, so what is taken back is in the file again as it was, byte for byte.
 */
export class FileForm {
  /** Without its long strings. */
  readonly #bytes: Uint8Array;
  readonly #strings: readonly string[];
  readonly #notebook: Notebook;
  readonly #givenIds: ReadonlySet<string>;
  readonly #root: Container;
  readonly #cells: Container;
  readonly #originals: ReadonlyMap<string, { cell: CellContent; child: Child }>;
  readonly #templates = new Map<CellType, Container | undefined>();
  /** Cells never change, new ones take their place: one that has been printed need not be printed again with every save. */
  readonly #printed = new WeakMap<CellContent, Uint8Array>();
  #rootStyle: FoundStyle | undefined;
  #splitText: SplitText | undefined;

  /** `notebook` is what the text says, which must not change any more; `givenIds` are the ids that they lack. */
  constructor({ bytes, strings }: ThinText, notebook: Notebook, givenIds: ReadonlySet<string> = new Set()) {
    this.#bytes = bytes;
    this.#strings = strings;
    this.#notebook = notebook;
    this.#givenIds = givenIds;
    // A byte order mark may stand before it.
    this.#root = readContainer(bytes, skipSpace(bytes, bytes[0] === 0xef ? 3 : 0));
    this.#cells = readContainer(bytes, this.#root.children.findLast(({ key }) => key === 'cells')?.value ?? this.#root.open);
    const { children } = this.#cells;
    this.#originals = new Map(
      notebook.cells.flatMap((cell, index) => (children[index] ? [[cell.id, { cell, child: children[index] }]] : [])),
    );
  }

  /** The text of the file. */
  print({ metadata, minor, cells, extra = {} }: Notebook): Uint8Array {
    const patch = new JsonPatch(this.#bytes);
    const old = this.#notebook;
    const found = this.#style;
    const member = (key: string, from: unknown, to: unknown) => ({
      key,
      isSame: isSameJson(from, to),
      write: (child: Child | undefined) => patch.value(child, { from, to, found: innerStyle(found) }),
    });
    const members = [
      { key: 'cells', isSame: false, write: () => this.#writeCells(patch, cells, minor) },
      member('metadata', old.metadata, metadata),
      member('nbformat', 4, 4),
      member('nbformat_minor', old.minor, minor),
      ...keysOf(extra).map((key) => member(key, old.extra?.[key], extra[key])),
    ];
    patch.copy(0, this.#root.open);
    patch.object(this.#root, members, { found });
    patch.copy(this.#root.close + 1, this.#bytes.length);
    return putBackLongStrings({ bytes: patch.finish(), strings: this.#strings });
  }

  /** Whether cells have ids that their file does not tell: somebody else has to keep them. */
  lacksIds({ minor, cells }: Notebook): boolean {
    return cells.some(({ id }) => this.#givenIds.has(id) || (minor < 5 && !this.#originals.has(id)));
  }

  get #style(): FoundStyle {
    this.#rootStyle ??= styleAt(this.#bytes, this.#root, { style: { ...nbformatStyle, quote: quoteAs(this.#bytes) }, lineBreak: '\n' });
    return this.#rootStyle;
  }

  #writeCells(patch: JsonPatch, cells: readonly CellContent[], minor: number): void {
    const items = cells.map((cell): Item => {
      const original = this.#originals.get(cell.id);
      const isSame = original?.cell === cell;
      const write = () => (isSame ? patch.copy(original.child.start, original.child.end) : patch.bytes(this.#cellBytes(cell, minor)));
      return { child: original?.child, write };
    });
    patch.container(this.#cells, items, styleAt(this.#bytes, this.#cells, innerStyle(this.#style)));
  }

  #cellBytes(cell: CellContent, minor: number): Uint8Array {
    const known = this.#printed.get(cell);
    if (known) return known;
    const patch = new JsonPatch(this.#bytes);
    this.#writeCell(patch, cell, minor);
    const bytes = patch.finish();
    if (bytes.length <= maxKeptBytes || bytes.buffer === this.#bytes.buffer) this.#printed.set(cell, bytes);
    return bytes;
  }

  #writeCell(patch: JsonPatch, cell: CellContent, minor: number): void {
    const original = this.#originals.get(cell.id);
    const template = this.#templateOf(cell.type);
    const order = template && isSorted(template) ? undefined : template?.children.map(({ key }) => key ?? '');
    const keys = diskKeysOf(cell, minor >= 5 || (original !== undefined && !this.#givenIds.has(cell.id)));
    if (!original) return this.#writeNewCell(patch, cell, { keys, template, order });
    const container = readContainer(this.#bytes, original.child.value);
    const found = this.#cellStyle(container);
    // An id that the file lacks comes with another change of its cell: a move is none.
    const hasItsId = !this.#givenIds.has(cell.id) || isSameContent(original.cell, cell);
    const members = keys.map((key) => {
      const from = key === 'id' ? undefined : memberOf(original.cell, key);
      return {
        key,
        isSame: key === 'id' ? hasItsId : isSameJson(from, memberOf(cell, key)),
        write: (child: Child | undefined) => {
          const to = diskValue(cell, key, key === 'source' ? this.#splitAs(child) : this.#split);
          patch.value(child, { from, to, found: innerStyle(found) });
        },
      };
    });
    patch.object(container, members, { found, order });
  }

  #writeNewCell(
    patch: JsonPatch,
    cell: CellContent,
    { keys, template, order = keys }: { keys: readonly string[]; template: Container | undefined; order: readonly string[] | undefined },
  ): void {
    const { style, lineBreak } = this.#cellStyle(template);
    const sorted = [...order.filter((key) => keys.includes(key)), ...keys.filter((key) => !order.includes(key))];
    patch.text(printNotebookJson(toObject(sorted.map((key) => [key, diskValue(cell, key, this.#split)] as const)), style, lineBreak));
  }

  #cellStyle(container: Container | undefined): FoundStyle {
    const otherwise = innerStyle(innerStyle(this.#style));
    return container ? styleAt(this.#bytes, container, otherwise) : otherwise;
  }

  /** What a new cell of this type shall look like. */
  #templateOf(type: CellType): Container | undefined {
    if (!this.#templates.has(type)) {
      const originals = [...this.#originals.values()];
      const original = originals.find(({ cell }) => cell.type === type) ?? originals[0];
      this.#templates.set(type, original && readContainer(this.#bytes, original.child.value));
    }
    return this.#templates.get(type);
  }

  #splitAs(text: Child | undefined): SplitText {
    return text ? splitLike(this.#bytes, text) : this.#split;
  }

  /** As the first cell does that has a text. */
  get #split(): SplitText {
    if (this.#splitText) return this.#splitText;
    const first = [...this.#originals.values()].find(({ cell }) => cell.source !== '');
    const source = first && readContainer(this.#bytes, first.child.value).children.findLast(({ key }) => key === 'source');
    this.#splitText = source ? splitLike(this.#bytes, source) : toLines;
    return this.#splitText;
  }
}

function isSameContent(left: CellContent, right: CellContent): boolean {
  const keys = new Set([...diskKeysOf(left, false), ...diskKeysOf(right, false)]);
  return [...keys].every((key) => isSameJson(memberOf(left, key), memberOf(right, key)));
}

function splitLike(bytes: Uint8Array, { value }: Child): SplitText {
  return bytes[value] === 0x22 ? (text) => text : toLines;
}
