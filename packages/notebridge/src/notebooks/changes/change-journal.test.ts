import { describe, expect, it } from 'vitest';
import { type ChangeEntry, ChangeJournal } from './change-journal.js';

const insert = (cellId: string, left = 'x', language?: string): ChangeEntry => ({
  change: 'insert',
  cellId,
  connection: 1,
  left,
  language,
});
const update = (cellId: string, before: string, left: string): ChangeEntry => ({ change: 'update', cellId, connection: 1, before, left });
const deletion = (cellId: string, previousId?: string, nextId?: string): ChangeEntry => ({
  change: 'delete',
  cellId,
  connection: 1,
  before: { id: cellId, type: 'code', source: 'x', language: undefined, index: 1, previousId, nextId },
});

const idsIn = (journal: ChangeJournal): string[] => journal.entries.map(({ cellId }) => cellId);

describe('ChangeJournal', () => {
  it('lets the oldest go when there are too many', () => {
    const journal = new ChangeJournal({ maxEntries: 2 });
    for (const id of ['a', 'b', 'c']) journal.add(insert(id));
    expect(idsIn(journal)).toEqual(['b', 'c']);
  });

  it('lets the oldest go when their sources are too long, and all of them for one that is too long itself', () => {
    const journal = new ChangeJournal({ maxCharacters: 10 });
    journal.add(insert('a', 'x'.repeat(4)));
    journal.add(update('b', 'x'.repeat(3), 'x'.repeat(3)));
    expect(idsIn(journal)).toEqual(['a', 'b']);
    journal.add(deletion('c'));
    expect(idsIn(journal)).toEqual(['b', 'c']);
    journal.add(insert('d', 'x'.repeat(11)));
    expect(journal.isEmpty).toBe(true);
  });

  it('reports when the first entry comes and when the last one goes, and only then', () => {
    const journal = new ChangeJournal({ maxCharacters: 10 });
    const flips: boolean[] = [];
    journal.flipped.add(() => flips.push(journal.isEmpty));
    const [first, second] = [insert('a'), insert('b')];
    journal.add(first);
    journal.add(second);
    journal.remove(second);
    journal.remove(first);
    journal.clear();
    journal.add(insert('too long', 'x'.repeat(11)));
    journal.add(first);
    journal.clear();
    expect(flips).toEqual([false, true, false, true]);
  });

  it('says of a cell that came back under another id what it said before, as a neighbour too', () => {
    const journal = new ChangeJournal();
    journal.add(insert('a', 'x', 'r'));
    journal.add(deletion('b', 'a', 'c'));
    journal.add(deletion('d', 'c', 'a'));
    journal.rename('a', 'new');
    expect(journal.entries).toEqual([insert('new', 'x', 'r'), deletion('b', 'new', 'c'), deletion('d', 'c', 'new')]);
    expect([journal.languageOf('new'), journal.languageOf('a'), journal.languageOf('b')]).toEqual(['r', undefined, undefined]);
  });
});
