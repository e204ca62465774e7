// @module-tag deep

import type { JsonObject } from '@notebridge/protocol/json';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { preparePython, pythonRewritten, pythonTimeoutMs, pythonVerdicts } from '../../test/support/nbformat.js';
import { anyDiskNotebook } from '../../test/support/notebooks.js';
import { NotebookError } from './errors.js';
import { parseNotebook, printNotebook, readNotebook } from './nbformat.js';

const seed = 20261121;

function errorOf(text: string, limits = {}): NotebookError {
  try {
    parseNotebook(text, limits);
  } catch (error) {
    if (error instanceof NotebookError) return error;
    throw error;
  }
  throw new Error('The notebook was accepted');
}

function fileOf(cells: unknown[], more: JsonObject = {}): string {
  return `${JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5, ...more }, null, 1)}\n`;
}

const codeCell = { cell_type: 'code', execution_count: null, id: 'a', metadata: {}, outputs: [], source: [] };

beforeAll(preparePython, pythonTimeoutMs);

describe('parseNotebook and printNotebook, against Python', () => {
  it('print a file that nbformat wrote byte for byte', { tags: ['P-096'] }, async () => {
    const given = fc.sample(anyDiskNotebook, { numRuns: 400, seed }).map((notebook) => JSON.stringify(notebook));
    const written = await pythonRewritten(given);
    for (const text of written) expect(printNotebook(parseNotebook(text).notebook)).toBe(text);
  });

  it('keep numbers as they were spelled, and the numbers that only Python has', async () => {
    const text =
      '{"cells": [], "metadata": {"10": 1.0, "2": 12345678901234567890, "n": [NaN, -Infinity, 1e-07, 1e+300, 100000.0]}, "nbformat": 4, "nbformat_minor": 5}';
    const [written = ''] = await pythonRewritten([text]);
    expect(printNotebook(parseNotebook(written).notebook)).toBe(written);
    expect(written).toContain('12345678901234567890');
  });

  it('print what nbformat would make of any file, with the keys of metadata in the order of the file', { tags: ['P-096'] }, async () => {
    const texts = fc.sample(anyDiskNotebook, { numRuns: 200, seed: seed + 1 }).map((notebook) => JSON.stringify(notebook));
    const printed = texts.map((text) => printNotebook(parseNotebook(text).notebook));
    expect(await pythonRewritten(printed)).toEqual(await pythonRewritten(texts));
    expect(await pythonVerdicts(printed)).toEqual(printed.map(() => undefined));
  });

  it('open what nbformat opens, and say of the rest what it says', async () => {
    const texts = mutants(600);
    const verdicts = await pythonVerdicts(texts);
    const differing = texts.filter((text, index) => (verdicts[index] === undefined) !== isFaultless(text));
    expect(differing).toEqual([]);
    expect(verdicts.filter((verdict) => verdict !== undefined).length).toBeGreaterThan(100);
  });

  it('write files of older versions as such, so that nbformat accepts them', async () => {
    const { id: _, ...oldCell } = codeCell;
    const old = [0, 1, 2, 3, 4].map((minor) => fileOf([oldCell, oldCell], { nbformat_minor: minor }));
    const parsed = old.map((text) => parseNotebook(text));
    const printed = parsed.map(({ notebook }) => printNotebook(notebook));
    expect(printed.map((text) => JSON.parse(text).nbformat_minor)).toEqual([0, 1, 2, 3, 4]);
    expect(await pythonVerdicts(printed)).toEqual(old.map(() => undefined));
    expect(parsed.map(({ mended }) => mended)).toEqual(old.map(() => []));
  });

  it('convert files of nbformat 2 and 3 as nbformat does', { tags: ['P-654'] }, async () => {
    const cells = [
      { cell_type: 'heading', level: 2, metadata: {}, source: ['A\n', 'title'] },
      { cell_type: 'markdown', metadata: {}, source: 'text' },
      { cell_type: 'html', metadata: {}, source: '<b>' },
      { cell_type: 'raw', metadata: { note: 1 }, source: ['raw', 'without', 'breaks'] },
      {
        ...{ cell_type: 'code', collapsed: true, input: ['1\n', '2'], language: 'python', metadata: {}, prompt_number: 3 },
        outputs: [
          { output_type: 'pyout', prompt_number: 3, text: ['2'], html: '<b>2</b>', metadata: { png: { width: 1 } } },
          { output_type: 'stream', stream: 'stderr', text: ['err\n'] },
          { output_type: 'display_data', png: 'aGk=', json: '{"a": 1.0}' },
          { output_type: 'pyerr', ename: 'E', evalue: 'v', traceback: ['t'] },
        ],
      },
      { cell_type: 'code', input: 'x', language: 'python', outputs: [] },
    ];
    const old = [3, 2].map((nbformat) =>
      JSON.stringify({
        metadata: { name: 'n', signature: 's', author: 'a' },
        nbformat,
        nbformat_minor: 0,
        worksheets: [{ cells, metadata: {} }],
      }),
    );
    const ours = old.map((text) => readNotebook(new TextEncoder().encode(text)).form.print(parseNotebook(text).notebook));
    const theirs = await pythonRewritten(old);
    expect(ours.map((bytes) => withoutIds(new TextDecoder().decode(bytes)))).toEqual(theirs.map(withoutIds));
  });
});

describe('parseNotebook', () => {
  it('gives cells of an old file the same ids each time', () => {
    const { id: _, ...oldCell } = codeCell;
    const ids = () =>
      parseNotebook(fileOf([oldCell, { ...oldCell, source: 'x' }], { nbformat_minor: 4 })).notebook.cells.map(({ id }) => id);
    expect(ids()).toEqual(ids());
    expect(new Set(ids()).size).toBe(2);
  });

  it('gives a cell another id when one before it has the same, and says so', () => {
    const { notebook, mended } = parseNotebook(fileOf([codeCell, codeCell]));
    expect(new Set(notebook.cells.map(({ id }) => id)).size).toBe(2);
    expect(mended).toEqual(['cells[1] has the id of another cell']);
  });

  it('keeps keys of a later minor version', () => {
    const text = fileOf([{ ...codeCell, novelty: { z: 1, a: 2 } }], { nbformat_minor: 6, zenith: [1] });
    const printed = printNotebook(parseNotebook(text).notebook);
    expect(JSON.parse(printed)).toEqual(JSON.parse(text));
    expect(printed).toContain('"novelty": {\n    "z": 1,\n    "a": 2\n   }');
  });

  it('drops what belongs to a session, trust above all', () => {
    const { notebook } = parseNotebook(
      fileOf([{ ...codeCell, metadata: { trusted: true, x: 1 } }], { metadata: { signature: 's', y: 2 } }),
    );
    expect([notebook.metadata, notebook.cells[0]?.metadata]).toEqual([{ y: 2 }, { x: 1 }]);
  });

  it.each<[string, string, JsonObject]>([
    ['what is no cell', fileOf([codeCell, 1]), { path: 'cells[1]', line: 11 }],
    ['a notebook without cells', '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}', { path: '' }],
    ['cells that are no list', '{"nbformat": 4, "cells": {}}', { path: 'cells', line: 1 }],
    ['version 5', '{"nbformat": 5, "nbformat_minor": 0, "metadata": {}, "cells": []}', { path: 'nbformat', line: 1 }],
    ['a JSON file of something else', '{"name": "x"}', { path: '' }],
    ['a list', '[]', { path: '', line: 1 }],
    ['a comma too many', '{\n "cells": [],\n}', { line: 3, column: 1 }],
    ['a text', 'print(1)', { line: 1, column: 1 }],
    ['a string without end', '{"cells', { line: 1, column: 2 }],
    ['nothing', '', { line: 1 }],
    ['nothing in it', '\ufeff{}', { path: '' }],
    ['deep nesting', '['.repeat(300), { line: 1, column: 257 }],
  ])('names the place of %s', (_, text, place) => {
    const error = errorOf(text);
    expect(error.code).toBe('bad_notebook');
    expect(error.data).toMatchObject(place);
    expect(error.message).toMatchSnapshot();
  });

  it('refuses what is beyond the limits', () => {
    expect(errorOf(fileOf([codeCell]), { maxBytes: 100 })).toMatchObject({
      code: 'too_large',
      message: expect.stringContaining('100 bytes are allowed'),
    });
    expect(errorOf(fileOf([codeCell, codeCell]), { maxCells: 1 })).toMatchObject({
      code: 'too_large',
      message: 'The notebook has 2 cells; 1 are allowed.',
    });
  });
});

function withoutIds(text: string): string {
  return text.replaceAll(/ +"id": "\w+",\n/g, '').replaceAll(/ +"orig_nbformat(_minor)?": \d,?\n/g, '');
}

function isFaultless(text: string): boolean {
  try {
    return parseNotebook(text).mended.length === 0;
  } catch (error) {
    if (error instanceof NotebookError && error.code === 'bad_notebook') return false;
    throw error;
  }
}

/** Notebooks with one thing changed at a random place: a value, a key gone, a key too many. */
function mutants(count: number): string[] {
  const wrong = fc.constantFrom<unknown>(
    null,
    true,
    0,
    1,
    -1,
    1.5,
    '',
    'x',
    'code',
    'auto',
    [],
    ['a'],
    ['a', 'a'],
    ['a,b'],
    [1],
    {},
    { a: 1 },
    { a: 'b' },
    { name: 'x' },
  );
  const newKey = fc.constantFrom(
    'id',
    'name',
    'tags',
    'jupyter',
    'execution',
    'collapsed',
    'scrolled',
    'format',
    'attachments',
    'outputs',
    'title',
    'authors',
    'language_info',
    'text/plain',
    'x',
  );
  const mutant = fc
    .tuple(anyDiskNotebook, fc.nat(), fc.constantFrom('replace', 'remove', 'add'), wrong, newKey)
    .map(([notebook, at, how, value, key]) => {
      const copy = JSON.parse(JSON.stringify(notebook));
      const places = placesIn(copy);
      const place = places[at % places.length];
      if (!place) return copy;
      const [owner, name] = place;
      if (how === 'remove') {
        if (Array.isArray(owner)) owner.splice(Number(name), 1);
        else delete owner[name];
      } else owner[how === 'add' && !Array.isArray(owner) ? key : name] = value;
      return copy;
    });
  return fc.sample(mutant, { numRuns: count, seed: seed + 2 }).map((notebook) => JSON.stringify(notebook));
}

function placesIn(value: unknown): [JsonObject, string][] {
  if (typeof value !== 'object' || value === null) return [];
  const owner = value as JsonObject;
  return Object.keys(owner).flatMap((key): [JsonObject, string][] => [[owner, key], ...placesIn(owner[key])]);
}
