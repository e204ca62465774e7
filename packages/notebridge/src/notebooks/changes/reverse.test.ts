import { codeOf } from '@notebridge/protocol/core/errors';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { describe, expect, it } from 'vitest';
import type { LocatedCell } from './cell-reader.js';
import type { ChangeEntry } from './change-journal.js';
import { assertAsLeft, toReverseCall } from './reverse.js';

/** A notebook of code cells; the source of each is its id unless given. */
function notebook(...ids: string[]): LocatedCell[] {
  return ids.map((text, index) => {
    const [id = '', source = id] = text.split('=');
    const idAt = (place: number): string | undefined => ids[place]?.split('=')[0];
    return { id, type: 'code', source, language: undefined, index, previousId: idAt(index - 1), nextId: idAt(index + 1) };
  });
}

const deleted = (before: Partial<LocatedCell>): ChangeEntry => ({
  change: 'delete',
  cellId: 'x',
  connection: 1,
  before: { id: 'x', type: 'code', source: 's', language: undefined, index: 1, previousId: 'a', nextId: 'b', ...before },
});
const moved = (left: number): ChangeEntry => ({
  change: 'move',
  cellId: 'x',
  connection: 1,
  left,
  before: { index: 1, previousId: 'a', nextId: 'b' },
});
const updated: ChangeEntry = { change: 'update', cellId: 'x', connection: 1, before: 'old', left: 'one\ntwo' };
const inserted: ChangeEntry = { change: 'insert', cellId: 'x', connection: 1, left: 'new', language: 'python' };

describe('toReverseCall', () => {
  it.each([
    ['behind the cell that stood above it', notebook('new', 'a', 'b'), 2],
    ['before the one that stood below, if the other is gone', notebook('new', 'c', 'b'), 2],
    ['at the old index, if both are gone', notebook('c', 'd', 'e'), 1],
    ['at the end, if there is no such index any more', notebook(), 0],
  ])('puts a cell back %s', (_, cells, cellIndex) => {
    expect(toReverseCall(deleted({}), cells)).toEqual({ name: 'add_code_cell', args: { cellIndex, language: 'python', code: 's' } });
  });

  it('counts places without the cell that is moved', () => {
    expect(toReverseCall(moved(0), notebook('x', 'a', 'b'))).toEqual({ name: 'move_cell', args: { cellId: 'x', cellIndex: 1 } });
  });

  it('brings text back as text, and code in its language', () => {
    expect(toReverseCall(deleted({ type: 'markdown' }), notebook('a'))).toEqual({
      name: 'add_text_cell',
      args: { cellIndex: 1, content: 's' },
    });
    expect(toReverseCall(deleted({ language: 'julia' }), notebook('a')).args).toMatchObject({ language: 'julia' });
  });
});

describe('assertAsLeft', () => {
  it.each<[string, ChangeEntry, LocatedCell[], boolean]>([
    ['an update whose text is still there, with other line breaks', updated, notebook('x=one\r\ntwo'), true],
    ['an insert that was not touched', inserted, notebook('a', 'x=new'), true],
    ['a move to where the cell stands', moved(2), notebook('a', 'b', 'x'), true],
    ['a move beyond the end', moved(99), notebook('a', 'b', 'x'), true],
    ['a deletion of what is not there', deleted({}), notebook('c'), true],
    ['a deletion beside a cell that is there, in a page that came anew', deleted({}), notebook('b'), false],
  ])('takes %s', (_, entry, cells, isSamePage) => {
    expect(() => assertAsLeft(entry, cells, isSamePage)).not.toThrow();
  });

  it.each<[string, ChangeEntry, LocatedCell[], boolean, RegExp]>([
    ['an update that a person wrote over', updated, notebook('x=person'), true, /update of the cell "x".*"person"/],
    ['an update of a cell that is gone', updated, notebook('a'), true, /not there any more/],
    ['an insert that a person went on with', inserted, notebook('x=new and more'), true, /insert.*"new and more"/],
    ['a move that a person corrected', moved(2), notebook('x', 'a', 'b'), true, /stands at index 0 by now, not at 2/],
    ['a deletion that a person took back', deleted({}), notebook('a', 'x', 'b'), true, /there again/],
    ['a deletion in what may be another notebook', deleted({}), notebook('c', 'd'), false, /connected anew/],
    [
      'a deletion of the only cell, in a page that came anew',
      deleted({ previousId: undefined, nextId: undefined }),
      [],
      false,
      /connected anew/,
    ],
  ])('refuses %s', (_, entry, cells, isSamePage, message) => {
    try {
      assertAsLeft(entry, cells, isSamePage);
      expect.unreachable();
    } catch (error) {
      expect([codeOf(error), messageOf(error)]).toEqual(['changed_since', expect.stringMatching(message)]);
    }
  });
});
