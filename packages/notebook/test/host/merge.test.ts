import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bringTo } from '../../src/host/bring-to.js';
import { mergeNotebooks } from '../../src/host/merge.js';
import type { CellContent, Notebook } from '../../src/model/cell.js';
import { createDocument } from '../../src/model/document.js';
import { parseNotebook, printNotebook } from '../../src/model/nbformat.js';
import { anyDiskNotebook } from '../support/notebooks.js';
import { ann } from './support/stores.js';

const cell = (id: string, source = id): CellContent => ({ id, type: 'code', source, metadata: {}, outputs: [], executionCount: null });
const notebook = (...cells: (CellContent | string)[]): Notebook => ({
  metadata: {},
  minor: 5,
  cells: cells.map((each) => (typeof each === 'string' ? cell(each) : each)),
});
const idsOf = ({ cells }: Notebook) => cells.map(({ id }) => id).join('');

const anyNotebook = anyDiskNotebook.map((disk) => parseNotebook(JSON.stringify(disk)).notebook);
/** Cells of few ids, in any order, so that versions have cells in common. */
const anyVersion = fc.tuple(anyNotebook, fc.shuffledSubarray(['a', 'b', 'c', 'd'])).map(([{ cells, ...rest }, ids]) => ({
  ...rest,
  cells: cells.slice(0, ids.length).map((each, index) => ({ ...each, id: ids[index] ?? '' })),
}));

describe('mergeNotebooks', () => {
  it('puts together what each side has changed', () => {
    const base = notebook('a', 'b', 'c');
    const mine = notebook(cell('a', 'mine'), 'b', 'x', 'c');
    const theirs = notebook('a', 'y', cell('b', 'theirs'), 'c');
    const { notebook: merged, overlaps } = mergeNotebooks(base, mine, theirs);
    expect(overlaps).toEqual([]);
    expect(idsOf(merged)).toBe('aybxc');
    expect(merged.cells.map(({ source }) => source)).toEqual(['mine', 'y', 'theirs', 'x', 'c']);
  });

  it.each([
    ['the text of a cell', notebook(cell('a', 'm')), notebook(cell('a', 't')), 'the text of the cell "a"'],
    ['a cell deleted here', notebook(), notebook(cell('a', 't')), 'the cell "a" (deleted here, changed in the file)'],
    ['a cell deleted there', notebook(cell('a', 'm')), notebook(), 'the cell "a" (deleted in the file, changed here)'],
  ])('finds an overlap in %s, and keeps the preferred side', (_, mine, theirs, overlap) => {
    const base = notebook('a');
    expect(mergeNotebooks(base, mine, theirs).overlaps).toEqual([overlap]);
    expect(mergeNotebooks(base, mine, theirs, 'mine').notebook.cells).toEqual(mine.cells);
    expect(mergeNotebooks(base, mine, theirs, 'theirs').notebook.cells).toEqual(theirs.cells);
  });

  it('finds an overlap in two different orders only', () => {
    const base = notebook('a', 'b', 'c');
    const [mine, theirs] = [notebook('b', 'a', 'c'), notebook('a', 'c', 'b')];
    expect(mergeNotebooks(base, mine, theirs).overlaps).toEqual(['the order of the cells']);
    expect(idsOf(mergeNotebooks(base, mine, theirs, 'theirs').notebook)).toBe('acb');
    expect(mergeNotebooks(base, mine, mine).overlaps).toEqual([]);
    expect(idsOf(mergeNotebooks(base, base, theirs).notebook)).toBe('acb');
  });

  it('keeps the later minor version, whichever side has it: cells may have keys of it', () => {
    const later = { ...notebook('a'), minor: 6 };
    const minors = [mergeNotebooks(notebook('a'), later, notebook('a')), mergeNotebooks(notebook('a'), notebook('a'), later)];
    expect(minors.map((merge) => merge.notebook.minor)).toEqual([6, 6]);
  });

  it('merges metadata key by key', () => {
    const withMetadata = (metadata: object): Notebook => ({ ...notebook(), metadata: { ...metadata } });
    const merge = mergeNotebooks(withMetadata({ a: 1, b: 1 }), withMetadata({ a: 2, b: 1 }), withMetadata({ a: 1, c: 3 }));
    expect(merge).toMatchObject({ overlaps: [], notebook: { metadata: { a: 2, c: 3 } } });
    expect(merge.notebook.metadata).not.toHaveProperty('b');
  });

  it('the merge of one changed side is that side, and of two equal ones either', () => {
    fc.assert(
      fc.property(anyVersion, anyVersion, (base, changed) => {
        for (const merge of [
          mergeNotebooks(base, changed, base),
          mergeNotebooks(base, base, changed),
          mergeNotebooks(base, changed, changed),
        ]) {
          expect(merge.overlaps).toEqual([]);
          expect(merge.notebook.cells.map(({ id }) => id)).toEqual(changed.cells.map(({ id }) => id));
          expect(printNotebook({ ...merge.notebook, metadata: {} })).toBe(printNotebook({ ...changed, metadata: {} }));
        }
      }),
    );
  });

  it('the merge of anything is a valid notebook', () => {
    fc.assert(
      fc.property(anyVersion, anyVersion, anyVersion, fc.constantFrom('mine' as const, 'theirs' as const), (base, mine, theirs, prefer) => {
        const merged = mergeNotebooks(base, mine, theirs, prefer).notebook;
        expect(parseNotebook(printNotebook(merged)).mended).toEqual([]);
      }),
    );
  });
});

describe('bringTo', () => {
  it('makes a document equal to any other notebook', () => {
    fc.assert(
      fc.property(anyVersion, anyVersion, (from, to) => {
        const document = createDocument(from);
        bringTo(document, to, ann);
        expect(JSON.parse(printNotebook(document.toNotebook()))).toEqual(JSON.parse(printNotebook(to)));
        const { version } = document;
        bringTo(document, to, ann);
        expect(document.version).toBe(version);
      }),
    );
  });

  it('moves as few cells as can be', () => {
    const document = createDocument(notebook(...'abcdefgh'));
    let changes = 0;
    document.onChange(() => changes++);
    bringTo(document, notebook(...'hbcdaefg'), ann);
    expect(idsOf(document.toNotebook())).toBe('hbcdaefg');
    expect(changes).toBe(2);
  });
});
