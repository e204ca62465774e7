import { describe, expect, it } from 'vitest';
import type { Actor } from './cell.js';
import { createDocument, type NotebookDocument } from './document.js';
import { NotebookError } from './errors.js';
import { Journal } from './journal.js';
import { printNotebook } from './nbformat.js';

const ann: Actor = { kind: 'person', name: 'Ann' };
const bot: Actor = { kind: 'agent', name: 'Bot' };
const other: Actor = { kind: 'agent', name: 'Other' };

function open(...sources: string[]): { document: NotebookDocument; journal: Journal } {
  const cells = sources.map((source, index) => ({
    id: `c${index}`,
    type: 'code' as const,
    source,
    metadata: { z: 1, a: { 10: 1, 2: 2 } },
    outputs: [{ output_type: 'stream' as const, name: 'stdout', text: source }],
    executionCount: index + 1,
  }));
  const document = createDocument({ metadata: {}, minor: 5, cells });
  return { document, journal: new Journal(document) };
}

function faultOf(act: () => unknown): NotebookError {
  try {
    act();
  } catch (error) {
    if (error instanceof NotebookError) return error;
    throw error;
  }
  throw new Error('Nothing was thrown');
}

const fileOf = (document: NotebookDocument) => printNotebook(document.toNotebook());

describe('the journal', () => {
  it.each<[string, (document: NotebookDocument) => void]>([
    ['an update', (document) => document.update('c1', 'new', { by: bot })],
    ['an insert', (document) => document.insert(1, { type: 'markdown', source: 'm' }, { by: bot })],
    ['a deletion', (document) => document.delete('c1', { by: bot })],
    ['a move down', (document) => document.move('c0', 2, { by: bot })],
    ['a move up', (document) => document.move('c2', 0, { by: bot })],
    ['a change of type', (document) => document.setType('c1', 'markdown', { by: bot })],
    ['a change of metadata', (document) => document.setMetadata('c1', { tags: ['x'] }, { by: bot })],
  ])('takes back %s exactly', (_, change) => {
    const { document, journal } = open('a', 'b', 'c');
    const before = fileOf(document);
    change(document);
    expect(fileOf(document)).not.toBe(before);
    journal.undoLast({ by: ann });
    expect(fileOf(document)).toBe(before);
    expect(faultOf(() => journal.undoLast({ by: ann })).code).toBe('nothing_to_undo');
  });

  it('takes back the outputs that a run has changed since', () => {
    const { document, journal } = open('a');
    const before = fileOf(document);
    document.update('c0', 'b', { by: bot });
    document.clear('c0', { by: bot });
    document.appendOutput('c0', { output_type: 'stream', name: 'stdout', text: 'other' }, { by: ann });
    journal.undoLast({ by: bot });
    expect(fileOf(document)).toBe(before);
  });

  it('refuses when a person has changed the cell since, and changes nothing', { tags: ['P-049'] }, () => {
    const { document, journal } = open('a');
    document.update('c0', 'bot', { by: bot });
    document.update('c0', 'ann', { by: ann });
    const before = fileOf(document);
    expect(faultOf(() => journal.undoLast({ by: bot }))).toMatchObject({
      code: 'changed_since',
      message: 'The update of the cell "c0" by Bot cannot be undone: Ann has changed the cell since.',
      data: { currentSource: 'ann', changedBy: ann },
    });
    expect(fileOf(document)).toBe(before);
    expect(journal.entries).toMatchObject([{ changedBy: ann, undone: false }]);
  });

  it('refuses when a person has deleted the cell since', () => {
    const { document, journal } = open('a');
    document.update('c0', 'bot', { by: bot });
    document.delete('c0', { by: ann });
    expect(faultOf(() => journal.undoLast({ by: bot })).message).toMatch('Ann has deleted the cell since');
  });

  it('takes back one change out of the middle, unless a later one of the same cell is in the way', () => {
    const { document, journal } = open('a', 'b');
    document.update('c0', 'a1', { by: bot });
    document.update('c1', 'b1', { by: bot });
    document.update('c0', 'a2', { by: bot });
    const [first, second, third] = journal.entries.map(({ id }) => id);
    expect(faultOf(() => journal.undo(first ?? 0, { by: ann })).message).toMatch(
      `a later change of the same cell (update, entry ${third}) has to be undone first`,
    );
    journal.undo(second ?? 0, { by: ann });
    journal.undo(third ?? 0, { by: ann });
    journal.undo(first ?? 0, { by: ann });
    expect(document.cells.map(({ source }) => source)).toEqual(['a', 'b']);
    expect(faultOf(() => journal.undo(first ?? 0, { by: ann })).code).toBe('nothing_to_undo');
  });

  it("takes back an agent's own changes only, when asked for them", () => {
    const { document, journal } = open('a', 'b');
    document.update('c0', 'bot', { by: bot });
    document.update('c1', 'other', { by: other });
    journal.undoLast({ by: bot, ofAgent: 'Bot' });
    expect(document.cells.map(({ source }) => source)).toEqual(['a', 'other']);
  });

  it('puts a deleted cell behind the one that stood above it, wherever that is by now', () => {
    const { document, journal } = open('a', 'b', 'c');
    document.delete('c2', { by: bot });
    document.insert(0, { type: 'code', source: 'new' }, { by: ann });
    document.move('c1', 0, { by: ann });
    journal.undoLast({ by: ann });
    expect(document.cells.map(({ source }) => source)).toEqual(['b', 'c', 'new', 'a']);
  });

  it('is bounded, and tells of its changes', () => {
    const { document } = open('a');
    const journal = new Journal(document, { maxEntries: 3 });
    const lengths: number[] = [];
    journal.onChange((entries) => lengths.push(entries.length));
    for (let count = 0; count < 5; count++) document.update('c0', `${count}`, { by: bot });
    expect(lengths).toEqual([1, 2, 3, 3, 3]);
    const small = new Journal(document, { maxCharacters: 100 });
    for (let count = 0; count < 5; count++) document.update('c0', 'x'.repeat(90) + count, { by: bot });
    expect(small.entries).toHaveLength(1);
    journal.close();
    document.update('c0', 'y', { by: bot });
    expect(lengths).toHaveLength(10);
  });
});
