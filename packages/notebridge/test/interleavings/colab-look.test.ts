import type { JsonObject } from '@notebridge/protocol/json';
import { expect, it } from 'vitest';
import { createContext } from '../support/create-context.js';
import { openColabKind } from './colab-kind.js';

it('a cell of a Colab page is read in the last moment before an edit, which says what it is by then', { tags: ['P-635'] }, async () => {
  await using kind = await openColabKind();
  const call = async (name: string, args: JsonObject = {}): Promise<JsonObject> => {
    const message = { name, arguments: args };
    const { content } = await kind.provider.request('tools/call', message, createContext('tools/call', message));
    return JSON.parse((content as { text: string }[])[0]?.text ?? '') as JsonObject;
  };
  kind.person.add(0, 'mine');
  const { id: cellId } = kind.cells()[0] as { id: string };
  await call('get_cells');
  kind.person.edit(cellId, 'mine, and more');
  for (const [name, more] of [
    ['update_cell', { content: 'theirs' }],
    ['delete_cell', {}],
  ] as const) {
    kind.person.edit(cellId, `${name}: mine`);
    expect(await call(name, { cellId, ...more })).toMatchObject({
      error: { code: 'stale_cell', currentSource: `${name}: mine`, currentIndex: 0 },
    });
  }
  expect(kind.cells()).toEqual([{ id: cellId, source: 'delete_cell: mine' }]);
  // The refusal has shown it.
  expect(await call('delete_cell', { cellId })).toEqual({});
  expect(await call('undo_last_change')).toMatchObject({ undone: { change: 'delete' } });
  const [{ id = '' } = {}] = kind.cells();
  expect(await call('update_cell', { cellId: id, content: 'theirs' })).toEqual({});
});
