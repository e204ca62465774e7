import type { JsonObject } from '@notebridge/protocol/json';
import { revOf } from '@notebridge/protocol/runs/cell-rev';
import { expect, it } from 'vitest';
import { createContext } from '../support/create-context.js';
import { openBuiltInKind } from './built-in-kind.js';
import { openColabKind } from './colab-kind.js';
import { openLiveKind, openStoredKind } from './lab-kinds.js';

/** Too long for one answer. */
const source = Array.from({ length: 800 }, (_, at) => `a${at} = "person wrote this line number ${at}"\n`).join('');

it.each([
  { name: 'the built-in notebook', open: openBuiltInKind, readsRanges: true },
  { name: 'a shared JupyterLab', open: openLiveKind, readsRanges: true },
  { name: 'a plain JupyterLab', open: openStoredKind, readsRanges: true },
  { name: 'Colab', open: openColabKind, readsRanges: false },
])(
  '$name tells no revision, which suffices for an edit, of a source that the agent has not read whole',
  {
    tags: ['P-634'],
  },
  async ({ open, readsRanges }) => {
    await using kind = await open();
    kind.person.add(0, source);
    const [{ id: cellId } = { id: '' }] = kind.cells();
    const rev = revOf({ type: 'code', source });
    const call = async (name: string, args: JsonObject = {}): Promise<string> => {
      const message = { name, arguments: args };
      const { content } = await kind.provider.request('tools/call', message, createContext('tools/call', message));
      return (content as { text: string }[])[0]?.text ?? '';
    };
    // A refusal without the text.
    for (const more of [{}, { expected_rev: 7 }]) {
      const refused = await call('delete_cell', { cellId, ...more });
      expect(refused).toContain('"stale_cell"');
      expect(refused).toContain('get_cells');
      expect(refused).not.toContain(String(rev));
    }
    let from: number | undefined = 0;
    if (readsRanges) {
      // A part, the end alone, and what fits.
      for (const range of [{ sourceFrom: 0, sourceTo: 5 }, { sourceFrom: 30_000 }, {}]) {
        const cut = await call('get_cells', { cellId, ...range });
        expect(cut).toContain('"rev_note"');
        expect(cut).not.toContain(String(rev));
        expect(await call('update_cell', { cellId, content: 'gone' })).toContain('"stale_cell"');
      }
      while (from !== undefined) {
        const [part]: JsonObject[] = JSON.parse(await call('get_cells', { cellId, sourceFrom: from })).cells;
        from = part?.next_source_from as number | undefined;
        expect(part?.rev).toBe(from === undefined ? rev : undefined);
      }
    } else await call('get_cells');
    expect(await call('delete_cell', { cellId, ...(readsRanges ? { expected_rev: rev } : {}) })).toBe('{}');
  },
);
