// @module-tag P-707

import { expect, it } from 'vitest';
import { createDocument, type NotebookDocument } from '../../model/document.js';
import { Drafts } from './drafts.js';

const person = { kind: 'person', name: 'You' } as const;
const agent = { kind: 'agent', name: 'Claude' } as const;

/** A window on the document, as the app joins them. */
function windowOn(document: NotebookDocument): Drafts {
  const update = async (cellId: string, source: string, expectedRev: number) =>
    document.update(cellId, source, { by: person, expectedRev });
  const drafts = new Drafts({ document: () => document, update });
  document.onChange(({ before, after, change }) => drafts.changed(before?.cell, after?.cell, change.by));
  return drafts;
}

function written(source: string): { document: NotebookDocument; cellId: string } {
  const document = createDocument();
  const cellId = document.insert(0, { type: 'code', source }, { by: agent }).id;
  return { document, cellId };
}

it('text of a cell that an agent deletes is kept through any number of reloads, until it has a place or is let go', () => {
  const { document, cellId } = written('a = 1');
  const first = windowOn(document);
  first.edited(cellId, 'a = 1 + mine');
  document.delete(cellId, { by: agent });
  expect(first.orphans).toEqual([{ cellId, base: 'a = 1', text: 'a = 1 + mine', by: agent }]);
  const second = windowOn(document);
  second.restore(first.save(), true);
  const third = windowOn(document);
  third.restore(second.save(), false);
  expect(third.orphans.map(({ text }) => text)).toEqual(['a = 1 + mine']);
  expect(third.isEmpty).toBe(false);
  third.drop(third.orphans);
  expect([third.save(), third.isEmpty]).toEqual([[], true]);
});

it('text of a deleted cell is typed into it again when the cell is back', async () => {
  const { document, cellId } = written('a = 1');
  const drafts = windowOn(document);
  drafts.edited(cellId, 'a = 1 + mine');
  const place = document.get(cellId);
  document.delete(cellId, { by: agent });
  const shown: string[] = [];
  drafts.on((event) => event.type === 'text' && shown.push(event.text));
  document.restore(place, { by: agent });
  expect([drafts.orphans, shown]).toEqual([[], ['a = 1 + mine']]);
  await drafts.flushAll();
  expect(document.get(cellId).cell.source).toBe('a = 1 + mine');
});

it('a deleted cell in which nothing new was typed leaves nothing', () => {
  const { document, cellId } = written('a = 1');
  const drafts = windowOn(document);
  drafts.edited(cellId, 'a = 1');
  document.delete(cellId, { by: agent });
  expect([drafts.orphans, drafts.isEmpty]).toEqual([[], true]);
});

it('what two windows left of one cell is kept, both', () => {
  const { document, cellId } = written('a = 1');
  const drafts = windowOn(document);
  document.delete(cellId, { by: agent });
  drafts.restore(
    ['one', 'two'].map((text) => ({ cellId, base: 'a = 1', text })),
    true,
  );
  expect(drafts.orphans.map(({ text }) => text).sort()).toEqual(['one', 'two']);
});
