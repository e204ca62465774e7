// @module-tag deep

import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { preparePython, pythonRewritten, pythonTimeoutMs, pythonVerdicts } from '../../test/support/nbformat.js';
import { anyDiskNotebook, anyOutput, anyText } from '../../test/support/notebooks.js';
import type { Actor, Cell, CellType } from './cell.js';
import { createDocument, createReplica, type NotebookDocument } from './document.js';
import { NotebookError } from './errors.js';
import { Journal } from './journal.js';
import { parseNotebook, printNotebook } from './nbformat.js';
import type { Output } from './output.js';

const ann: Actor = { kind: 'person', name: 'Ann' };
const bot: Actor = { kind: 'agent', name: 'Bot' };
const limits = { maxStreamBytes: 30, maxRichBytes: 60, maxOutputs: 4 };

type Edit = (document: NotebookDocument, by: Actor) => void;

/** An edit of the cell at a random place, if there is one. */
const at = (act: (document: NotebookDocument, id: string, by: Actor) => void) =>
  fc.nat(20).map(
    (place): Edit =>
      (document, by) => {
        const cell = document.cells[place % Math.max(1, document.cells.length)];
        if (cell) act(document, cell.id, by);
      },
  );

const type = fc.constantFrom<CellType>('code', 'markdown', 'raw');
const contentEdits = [
  fc.tuple(fc.nat(5), type, anyText).map(
    ([index, cellType, source]): Edit =>
      (document, by) =>
        document.insert(index, { type: cellType, source }, { by }),
  ),
  anyText.chain((source) => at((document, id, by) => document.update(id, source, { by }))),
  fc.nat(5).chain((index) => at((document, id, by) => document.move(id, index, { by }))),
  at((document, id, by) => document.delete(id, { by })),
  type.chain((cellType) => at((document, id, by) => document.setType(id, cellType, { by }))),
  anyText.chain((note) => at((document, id, by) => document.setMetadata(id, { note }, { by }))),
];
const outputEdits = [
  anyOutput.chain((output) => at((document, id, by) => onCode(document, id, () => document.appendOutput(id, output as Output, { by })))),
  at((document, id, by) => onCode(document, id, () => document.clear(id, { by }))),
  at((document, id, by) => onCode(document, id, () => document.finishOutputs(id, { by }))),
  fc.nat(9).chain((count) => at((document, id, by) => onCode(document, id, () => document.setExecutionCount(id, count, { by })))),
];
const contentEdit = fc.oneof(...contentEdits);
const anyEdit = fc.oneof(...contentEdits, ...outputEdits);
const start = anyDiskNotebook.map((notebook) => parseNotebook(JSON.stringify(notebook)).notebook);
const fileOf = (document: NotebookDocument) => printNotebook(document.toNotebook());

beforeAll(preparePython, pythonTimeoutMs);

describe('any sequence of changes', () => {
  it('the changes of an agent are taken back to the same file, one by one', () => {
    fc.assert(
      fc.property(start, fc.array(contentEdit, { maxLength: 12 }), (notebook, edits) => {
        const document = createDocument(notebook, limits);
        const journal = new Journal(document);
        const files = [fileOf(document)];
        for (const edit of edits) {
          const { version } = document;
          edit(document, bot);
          if (document.version > version) files.push(fileOf(document));
        }
        for (files.pop(); journal.findLast(); files.pop()) {
          journal.undoLast({ by: ann });
          expect(fileOf(document)).toBe(files.at(-1));
        }
        expect(files).toEqual([]);
      }),
    );
  });

  it('the changes of person and agent are taken back where nobody was in between, and else left alone', () => {
    const step = fc.record({ edit: anyEdit, by: fc.constantFrom(ann, bot), undo: fc.boolean() });
    fc.assert(
      fc.property(start, fc.array(step, { maxLength: 20 }), (notebook, steps) => {
        const document = createDocument(notebook, limits);
        const journal = new Journal(document);
        for (const { edit, by, undo } of steps) {
          edit(document, by);
          if (undo) undoChecked(document, journal);
        }
      }),
    );
  });

  it('leaves every cell where its place says, whoever asks, and when', () => {
    const steps = fc.array(fc.record({ edit: anyEdit, undo: fc.boolean(), asked: fc.boolean() }), { maxLength: 30 });
    fc.assert(
      fc.property(start, steps, (notebook, edits) => {
        const document = createDocument(notebook, limits);
        const journal = new Journal(document);
        for (const { edit, undo, asked } of edits) {
          edit(document, bot);
          if (undo && journal.findLast()) journal.undoLast({ by: ann });
          if (asked) expect(document.cells.map(({ id }) => document.get(id).index)).toEqual([...document.cells.keys()]);
        }
        expect(document.cells.map(({ id }) => document.get(id).cell)).toEqual(document.cells);
      }),
    );
  });

  it('keeps a replica equal that hears of them as JSON, and gives a file that nbformat accepts', async () => {
    const files: string[] = [];
    const steps = fc.array(fc.record({ edit: anyEdit, by: fc.constantFrom(ann, bot) }), { maxLength: 20 });
    fc.assert(
      fc.property(start, steps, (notebook, edits) => {
        const document = createDocument(notebook, limits);
        const replica = createReplica(JSON.parse(JSON.stringify(document.snapshot())), limits);
        document.onChange(({ change }) => replica.apply(JSON.parse(JSON.stringify(change))));
        for (const { edit, by } of edits) edit(document, by);
        expect(replica.snapshot()).toEqual(JSON.parse(JSON.stringify(document.snapshot())));
        files.push(fileOf(document));
      }),
    );
    const verdicts = await pythonVerdicts(files);
    expect(verdicts.filter((verdict) => verdict !== undefined)).toEqual([]);
    for (const file of files) expect(printNotebook(parseNotebook(file).notebook)).toBe(file);
  });

  it('the changes of a new notebook give the very file that nbformat would write', async () => {
    const files: string[] = [];
    fc.assert(
      fc.property(fc.array(anyEdit, { maxLength: 20 }), (edits) => {
        const document = createDocument(undefined, limits);
        for (const edit of edits) edit(document, bot);
        files.push(fileOf(document));
      }),
    );
    expect(await pythonRewritten(files)).toEqual(files);
  });
});

/** Either the cell is as it was before the change, or nothing has changed and the refusal says why. */
function undoChecked(document: NotebookDocument, journal: Journal): void {
  const last = journal.findLast();
  if (!last) return;
  const before = fileOf(document);
  try {
    journal.undoLast({ by: bot });
    const { changedBy: _, ...content }: Partial<Cell> = last.before?.cell ?? {};
    if (last.before) expect(document.get(last.cellId).cell).toMatchObject(content);
    else expect(document.find(last.cellId)).toBeUndefined();
  } catch (error) {
    if (!(error instanceof NotebookError)) throw error;
    expect(error.code).toBe('changed_since');
    expect(journal.findLast()?.changedBy).toEqual(ann);
    expect(fileOf(document)).toBe(before);
  }
}

function onCode(document: NotebookDocument, id: string, act: () => void): void {
  if (document.find(id)?.type === 'code') act();
}
