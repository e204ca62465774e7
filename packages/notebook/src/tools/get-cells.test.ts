import { revOf } from '@notebridge/kit/cell-rev';
import { expect, it, onTestFinished } from 'vitest';
import { openNotebook } from '../../test/support/open-notebook.js';

it('get_cells reads one cell by its id, and ranges of its source, of which no character is cut', { tags: ['P-637'] }, async () => {
  const source = '𝒂'.repeat(15_000);
  const notebook = openNotebook(['a', source]);
  onTestFinished(() => notebook.session.close());
  const read = async (args: object) =>
    ((await notebook.call('get_cells', { cellId: 'c1', ...args })).value as { cells: { source: string[]; next_source_from?: number }[] })
      .cells;
  expect((await read({})).map((cell) => cell.source.join(''))).toEqual([source]);
  const parts: string[] = [];
  for (let from: number | undefined = 0; from !== undefined; ) {
    const [part] = await read({ sourceFrom: from });
    expect(part).toMatchObject({ id: 'c1', rev: revOf({ type: 'code', source }), source_from: from, characters: source.length });
    parts.push(part?.source.join('') ?? '');
    from = part?.next_source_from;
  }
  expect(parts.length).toBeGreaterThan(1);
  expect(parts.join('')).toBe(source);
  expect(await read({ sourceFrom: 3, sourceTo: 5 })).toMatchObject([{ source: ['𝒂'], source_from: 2, next_source_from: 4 }]);
  for (const wrong of [{ sourceFrom: 0 }, { sourceTo: 2, cellId: 'c1' }, { cellId: 'c1', sourceFrom: 2, sourceTo: 2 }])
    expect((await notebook.call('get_cells', wrong)).value).toMatchObject({ error: { code: 'bad_arguments' } });
});
