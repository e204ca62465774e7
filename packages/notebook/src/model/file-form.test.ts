// @module-tag P-652

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { roundsOf } from '../../../notebridge/test/support/core-and-deep.js';
import { anyForm, type WrittenForm, writeInForm } from '../../test/support/file-forms.js';
import { anyDiskNotebook, anyOutput, anyText } from '../../test/support/notebooks.js';
import type { Actor, CellType } from './cell.js';
import { createDocument, type NotebookDocument } from './document.js';
import { Journal } from './journal.js';
import { isSameJson } from './json.js';
import { type Child, readContainer, skipSpace } from './json-spans.js';
import { type ReadNotebook, readNotebook } from './nbformat.js';
import type { Output } from './output.js';

const bot: Actor = { kind: 'agent', name: 'Bot' };
const encoder = new TextEncoder();
const textOf = (bytes: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);

/** An edit of the cell at a place, or at none. Returns the cell that it is about. */
type Edit = (document: NotebookDocument, id: string | undefined) => string | undefined;

const type = fc.constantFrom<CellType>('code', 'markdown', 'raw');
const ofCell =
  (edit: (document: NotebookDocument, id: string) => void): Edit =>
  (document, id) => {
    if (id !== undefined) edit(document, id);
    return id;
  };
const anyEdit: fc.Arbitrary<Edit> = fc.oneof(
  fc.tuple(fc.nat(6), type, anyText).map(
    ([index, cellType, source]): Edit =>
      (document) =>
        document.insert(index, { type: cellType, source }, { by: bot }).id,
  ),
  anyText.map((source) => ofCell((document, id) => document.update(id, source, { by: bot }))),
  fc.nat(5).map((index) => ofCell((document, id) => document.move(id, index, { by: bot }))),
  fc.constant(ofCell((document, id) => document.delete(id, { by: bot }))),
  type.map((cellType) => ofCell((document, id) => document.setType(id, cellType, { by: bot }))),
  fc
    .dictionary(fc.constantFrom('a', 'tags', 'z'), fc.nat(), { maxKeys: 3 })
    .map((metadata) => ofCell((document, id) => document.setMetadata(id, metadata, { by: bot }))),
);
const anyRun: fc.Arbitrary<Edit> = fc.tuple(fc.array(anyOutput, { maxLength: 2 }), fc.nat(9)).map(([outputs, executionCount]) =>
  ofCell((document, id) => {
    if (document.get(id).cell.type === 'code') document.setOutputs(id, outputs as Output[], { by: bot, executionCount });
  }),
);

const print = (file: ReadNotebook, document: NotebookDocument) => file.form.print(document.toNotebook());

/** Each cell's own text by its id, and the text with nothing of them. */
function partsOf(bytes: Uint8Array, document: NotebookDocument): { cells: Map<string, string>; around: string } {
  const root = readContainer(bytes, skipSpace(bytes, bytes[0] === 0xef ? 3 : 0));
  const list = readContainer(bytes, (root.children.find(({ key }) => key === 'cells') as Child).value);
  const textAt = ({ start, end }: { start: number; end: number }) => textOf(bytes.subarray(start, end));
  const cells = new Map(list.children.map((child, index) => [document.cells[index]?.id ?? '', textAt(child)]));
  return { cells, around: textAt({ start: 0, end: list.open }) + textAt({ start: list.close, end: bytes.length }) };
}

describe('any notebook in any form', () => {
  it('keeps all bytes outside of the edited cell with each edit, and is what it was once all is taken back', () => {
    const edits = fc.array(fc.record({ edit: fc.oneof(anyEdit, anyRun), at: fc.nat(9) }), { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(anyDiskNotebook, anyForm, edits, (notebook, form, steps) => {
        const bytes = writeInForm(notebook, form);
        const file = readNotebook(bytes);
        const document = createDocument(file.notebook);
        expect(textOf(print(file, document))).toBe(textOf(bytes));
        let before = partsOf(bytes, document);
        for (const { edit, at } of steps) {
          const touched = edit(document, document.cells[at % Math.max(1, document.cells.length)]?.id);
          const printed = print(file, document);
          const after = partsOf(printed, document);
          expect(after.around).toBe(before.around);
          for (const [id, text] of after.cells) if (id !== touched) expect(text).toBe(before.cells.get(id));
          before = after;
          expectSameContent(readNotebook(printed, { known: [] }), document, form);
        }
      }),
      { seed: 20261128, numRuns: roundsOf(150) },
    );
  });

  it('has its own bytes again after an undo of every change, whatever was saved in between', () => {
    const edits = fc.array(fc.record({ edit: anyEdit, at: fc.nat(9) }), { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(anyDiskNotebook, anyForm, edits, (notebook, form, steps) => {
        const bytes = writeInForm(notebook, form);
        const file = readNotebook(bytes);
        const document = createDocument(file.notebook);
        const journal = new Journal(document);
        const files = [textOf(bytes)];
        for (const { edit, at } of steps) {
          const { version } = document;
          edit(document, document.cells[at % Math.max(1, document.cells.length)]?.id);
          if (document.version > version) files.push(textOf(print(file, document)));
        }
        for (files.pop(); journal.findLast(); files.pop()) {
          journal.undoLast({ by: bot });
          expect(textOf(print(file, document))).toBe(files.at(-1));
        }
        expect(files).toEqual([]);
      }),
      { seed: 20261129, numRuns: roundsOf(100) },
    );
  });
});

/** What was written says what the document holds. */
function expectSameContent({ notebook }: ReadNotebook, document: NotebookDocument, { minor }: WrittenForm): void {
  expect(notebook.minor).toBe(minor);
  const contentOf = ({ cells }: Pick<NotebookDocument, 'cells'>) => cells.map(({ id: _, changedBy: _by, ...cell }) => cell);
  const [written, held] = [contentOf({ cells: notebook.cells }), contentOf(document)];
  if (!isSameJson(written, held)) expect(written).toEqual(held);
}

describe('a new cell looks like those around it', () => {
  const add = (text: string, cellType: CellType = 'code'): string => {
    const file = readNotebook(encoder.encode(text));
    const document = createDocument(file.notebook);
    document.insert(1, { type: cellType, source: 'x < "é"\ny' }, { by: bot });
    return textOf(print(file, document)).replace(/"id":\s*"[0-9a-f]{8}"/, '"id": "NEW"');
  };
  const cell = { cell_type: 'code', source: ['1\n', '2'], metadata: {}, execution_count: null, outputs: [] };

  it.each<[string, string, string]>([
    [
      'as Colab writes it, with "<" escaped, and without an id before 4.5',
      `${JSON.stringify({ nbformat: 4, nbformat_minor: 0, cells: [{ ...cell, source: ['1<2'] }] }, null, 2)}`.replace('<', '\\u003c'),
      '    {\n      "cell_type": "code",\n      "source": [\n        "x \\u003c \\"é\\"\\n",\n        "y"\n      ],\n      "metadata": {},\n      "execution_count": null,\n      "outputs": []\n    }\n  ]\n}',
    ],
    [
      'in one line',
      JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells: [{ ...cell, id: 'a' }] }),
      ',{"cell_type":"code","source":["x < \\"é\\"\\n","y"],"metadata":{},"execution_count":null,"outputs":[],"id": "NEW"}]}',
    ],
    [
      'with tabs, CRLF, ASCII alone and texts as strings',
      JSON.stringify({ cells: [{ ...cell, id: 'é', source: '1\n2' }], metadata: {}, nbformat: 4, nbformat_minor: 5 }, null, '\t')
        .replaceAll('\n', '\r\n')
        .replace('é', '\\u00E9'),
      ',\r\n\t\t{\r\n\t\t\t"cell_type": "code",\r\n\t\t\t"source": "x < \\"\\u00E9\\"\\ny",\r\n\t\t\t"metadata": {},\r\n\t\t\t"execution_count": null,\r\n\t\t\t"outputs": [],\r\n\t\t\t"id": "NEW"\r\n\t\t}\r\n\t],',
    ],
  ])('%s', (_, text, expected) => {
    expect(add(text)).toContain(expected);
  });

  it('in a list without cells as nbformat writes it, with the indent of the file', () => {
    expect(add('{\n  "cells": [],\n  "metadata": {},\n  "nbformat": 4,\n  "nbformat_minor": 4\n}\n', 'markdown')).toBe(
      '{\n  "cells": [\n    {\n      "cell_type": "markdown",\n      "metadata": {},\n      "source": [\n        "x < \\"é\\"\\n",\n        "y"\n      ]\n    }\n  ],\n  "metadata": {},\n  "nbformat": 4,\n  "nbformat_minor": 4\n}\n',
    );
  });
});

describe('in an edited cell', () => {
  const cells = [
    {
      cell_type: 'code',
      execution_count: 3,
      metadata: { b: 1, a: [1.5] },
      outputs: [{ name: 'stdout', output_type: 'stream', text: ['1\n'] }],
      source: ['a'],
    },
  ];
  const text = `${JSON.stringify({ cells, metadata: { x: 1 }, nbformat: 4, nbformat_minor: 4 }, null, 1).replace('1.5', '1.50e0')}\n`;
  const edited = (edit: (document: NotebookDocument, id: string) => void): string => {
    const file = readNotebook(encoder.encode(text));
    const document = createDocument(file.notebook);
    edit(document, document.cells[0]?.id ?? '');
    return textOf(print(file, document));
  };

  it.each<[string, (document: NotebookDocument, id: string) => void, [string, string]]>([
    ['only the source', (document, id) => document.update(id, 'b', { by: bot }), ['"a"\n   ]\n  }', '"b"\n   ]\n  }']],
    [
      'only the count of its run',
      (document, id) => document.setExecutionCount(id, 4, { by: bot }),
      ['"execution_count": 3', '"execution_count": 4'],
    ],
    [
      'only one key of its metadata',
      (document, id) => document.setMetadata(id, { ...document.get(id).cell.metadata, b: 2 }, { by: bot }),
      ['"b": 1', '"b": 2'],
    ],
    [
      'only the metadata of the notebook',
      (document) => document.setMetadata(undefined, { x: 1, y: {} }, { by: bot }),
      ['"x": 1\n', '"x": 1,\n  "y": {}\n'],
    ],
  ])('%s differs', (_, edit, [from, to]) => {
    expect(edited(edit)).toBe(text.replace(from, to));
  });
});
