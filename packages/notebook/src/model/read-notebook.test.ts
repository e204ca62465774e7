// @module-tag P-653

import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { toKnown } from './cell-ids.js';
import { createDocument } from './document.js';
import { readNotebook } from './nbformat.js';

const by = { kind: 'agent', name: 'Bot' } as const;
const code: JsonObject = { cell_type: 'code', execution_count: null, id: 'c', metadata: {}, outputs: [], source: ['x = 1'] };
const without = (key: string): JsonObject => Object.fromEntries(Object.entries(code).filter(([name]) => name !== key));
const withOutput = (output: JsonObject): JsonObject => ({ ...code, outputs: [output] });
const notebook = (cell: JsonObject, more: JsonObject = {}): JsonObject => ({
  cells: [cell],
  metadata: {},
  nbformat: 4,
  nbformat_minor: 5,
  ...more,
});
const print = (value: unknown): string => `${JSON.stringify(value, null, 1)}\n`;

/** The line that says what nbformat would warn of, and the file after an edit of another cell and after one of this cell. */
function openAndEdit(text: string) {
  const file = readNotebook(new TextEncoder().encode(text));
  const document = createDocument(file.notebook);
  const printed = () => new TextDecoder('utf-8', { ignoreBOM: true }).decode(file.form.print(document.toNotebook()));
  const kept = printed();
  const cell = document.cells[0];
  if (cell) document.update(cell.id, 'x = 10', { by });
  return { kept, edited: printed(), mended: file.mended, cell };
}

describe('what Jupyter opens is opened, said, and kept but for what is edited', () => {
  it.each<[string, JsonObject, string | undefined]>([
    ['ids in 4.4', notebook(code, { nbformat_minor: 4 }), 'cells[0].id is a key'],
    ['outputs of a text', notebook({ ...code, cell_type: 'markdown' }), 'cells[0].execution_count is a key'],
    ['no execution count', notebook(without('execution_count')), 'cells[0] lacks "execution_count"'],
    ['no outputs', notebook(without('outputs')), 'cells[0] lacks "outputs"'],
    ['no metadata of a cell', notebook(without('metadata')), 'cells[0] lacks "metadata"'],
    ['an output without metadata', notebook(withOutput({ output_type: 'display_data', data: {} })), 'outputs[0] lacks "metadata"'],
    ['a stream without a name', notebook(withOutput({ output_type: 'stream', text: ['a'] })), 'outputs[0] lacks "name"'],
    [
      'transient in an output',
      notebook(withOutput({ output_type: 'display_data', data: {}, metadata: {}, transient: {} })),
      'transient is a key',
    ],
    ['an output of an unknown kind', notebook(withOutput({ output_type: 'pyout', text: 'a' })), 'output_type has to be'],
    ['a tag twice', notebook({ ...code, metadata: { tags: ['a', 'a'] } }), 'has a tag twice'],
    ['a tag with a comma', notebook({ ...code, metadata: { tags: ['a,b'] } }), 'has to be a tag'],
    ['null for collapsed', notebook({ ...code, metadata: { collapsed: null } }), 'collapsed has to be true or false'],
    ['an empty kernelspec', notebook(code, { metadata: { kernelspec: {} } }), 'kernelspec lacks "name"'],
    ['a long id', notebook({ ...code, id: 'x'.repeat(65) }), 'id has to be a cell id'],
    ['an id that is no text', notebook({ ...code, id: 7 }), 'id has to be a cell id'],
    ['unknown keys', notebook({ ...code, collapsed: false }, { foo: 1 }), 'is a key'],
    [
      'a mime type that is no text',
      notebook(withOutput({ output_type: 'display_data', data: { 'text/plain': 7 }, metadata: {} })),
      'a string or a list',
    ],
    ['an unknown kind of cell', notebook({ ...code, cell_type: 'heading' }), 'cell_type has to be'],
    ['no minor version', { cells: [without('id')], metadata: {}, nbformat: 4 }, 'lacks "nbformat_minor"'],
    ['no metadata', { cells: [code], nbformat: 4, nbformat_minor: 5 }, 'lacks "metadata"'],
    ['a source that is no text', notebook({ ...code, source: null }), 'source has to be a string'],
  ])('%s', (_, value, fault) => {
    const text = print(value);
    const { kept, edited, mended, cell } = openAndEdit(text);
    expect(kept).toBe(text);
    expect(mended).toEqual([expect.stringContaining(fault ?? '')]);
    const source = cell?.source === '' ? '"source": null' : '"x = 1"';
    const newSource = cell?.source === '' ? '"source": [\n    "x = 10"\n   ]' : '"x = 10"';
    const expected = text.replace(source, newSource);
    // An id that the notebook cannot use is replaced with the edit.
    expect(edited).toBe(
      typeof (value.cells as JsonObject[])[0]?.id === 'number' ? expected.replace('"id": 7', `"id": "${cell?.id}"`) : expected,
    );
  });

  it('a byte-order mark', () => {
    const text = `\ufeff${print(notebook(code))}`;
    expect(openAndEdit(text)).toMatchObject({ kept: text, edited: text.replace('x = 1', 'x = 10'), mended: [] });
  });

  it('whole numbers that are spelled with a point', () => {
    const text = print(notebook({ ...code, execution_count: 3 }))
      .replace('"nbformat": 4', '"nbformat": 4.0')
      .replace('"nbformat_minor": 5', '"nbformat_minor": 5.0')
      .replace('"execution_count": 3', '"execution_count": 3.0');
    const edited = text.replace('x = 1', 'x = 10');
    expect(openAndEdit(text)).toMatchObject({ kept: text, edited, mended: [], cell: { id: 'c', executionCount: 3 } });
  });

  it('shows outputs that lack something as Jupyter does', () => {
    const outputs = [
      { output_type: 'stream', text: ['a\n', 'b'] },
      { output_type: 'display_data' },
      { output_type: 'error', traceback: 'one\ntwo' },
      'none',
    ];
    const [cell] = readNotebook(new TextEncoder().encode(print(notebook({ ...code, outputs })))).notebook.cells;
    expect(cell?.outputs).toEqual([
      { output_type: 'stream', text: 'a\nb', name: 'stdout' },
      { output_type: 'display_data', data: {}, metadata: {} },
      { output_type: 'error', traceback: ['one', 'two'], ename: '', evalue: '' },
    ]);
  });
});

describe('cells without ids', { tags: ['P-655'] }, () => {
  const old = (sources: readonly string[]): Uint8Array =>
    new TextEncoder().encode(
      print({ cells: sources.map((source) => ({ ...without('id'), source })), metadata: {}, nbformat: 4, nbformat_minor: 4 }),
    );
  const idsOf = (sources: readonly string[], known?: { id: string; rev: number }[]): string[] =>
    readNotebook(old(sources), { known }).notebook.cells.map(({ id }) => id);

  it.each<[string, string[], (string | undefined)[]]>([
    ['nothing', ['1', '2', '2', '3'], ['1', '2a', '2b', '3']],
    ['one more before all', ['new', '1', '2', '2', '3'], [undefined, '1', '2a', '2b', '3']],
    ['one less', ['1', '2', '3'], ['1', '2a', '3']],
    ['another text', ['1', '2', 'changed', '3'], ['1', '2a', '2b', '3']],
    ['another place', ['3', '1', '2', '2'], ['3', '1', '2a', '2b']],
    ['all of it', ['a', 'b'], ['1', '2a']],
  ])('keep theirs where another program changed %s', (_, sources, expected) => {
    const base = readNotebook(old(['1', '2', '2', '3'])).notebook.cells;
    const names = ['1', '2a', '2b', '3'];
    const known = toKnown(base).map(({ rev }, index) => ({ id: names[index] ?? '', rev }));
    const ids = idsOf(sources, known);
    expect(ids.map((id) => (names.includes(id) ? id : undefined))).toEqual(expected);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
