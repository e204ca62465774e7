import { revOf } from '@notebridge/protocol/runs/cell-rev';
import { expect, it, onTestFinished } from 'vitest';
import { openNotebook } from '../../test/support/open-notebook.js';

it('get_cells reads one cell by its id, and ranges of its source, of which no character is cut', { tags: ['P-637'] }, async () => {
  const source = '𝒂'.repeat(15_000);
  const notebook = openNotebook(['a', source]);
  onTestFinished(() => notebook.session.close());
  const read = async (args: object) =>
    ((await notebook.call('get_cells', { cellId: 'c1', ...args })).value as { cells: { source: string[]; next_source_from?: number }[] })
      .cells;
  expect(await read({})).toMatchObject([{ source: [expect.stringMatching(/^𝒂+$/u)], source_from: 0, characters: source.length }]);
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
  expect(await read({ sourceFrom: 0, sourceTo: 1 })).toMatchObject([{ source: ['𝒂'], source_from: 0, next_source_from: 2 }]);
  for (const wrong of [{ sourceFrom: 0 }, { sourceTo: 2, cellId: 'c1' }, { cellId: 'c1', sourceFrom: 2, sourceTo: 2 }])
    expect((await notebook.call('get_cells', wrong)).value).toMatchObject({ error: { code: 'bad_arguments' } });
});

interface Part {
  cells: { id: string; source: string[]; next_source_from?: number }[];
  next_cell_index?: number;
  cells_left_out?: number;
}

it.each([
  ['a picture that was pasted', [`![p](data:image/png;base64,${'A'.repeat(1_500_000)})`]],
  ['data in code', ['x = 1', `data = "${'ab'.repeat(300_000)}"`, `more = [\n${'1,\n'.repeat(50_000)}]`, 'y = 2']],
  ['many cells', Array.from({ length: 2000 }, (_, index) => `x = ${index}\n${'# filler '.repeat(10)}`)],
  ['many cells without a source', Array.from({ length: 2000 }, () => '')],
  ['long ones among short ones', Array.from({ length: 60 }, (_, index) => (index % 7 === 3 ? 'long = 1\n'.repeat(5000) : `x = ${index}`))],
])('get_cells answers in parts, each with where it goes on: %s', { tags: ['P-662'] }, async (_, sources) => {
  const notebook = openNotebook(sources);
  onTestFinished(() => notebook.session.close());
  const read = async (args: object): Promise<Part> => {
    const value = (await notebook.call('get_cells', args)).value as Part;
    expect(JSON.stringify(value).length).toBeLessThanOrEqual(20_000);
    return value;
  };
  const found: string[] = [];
  for (let next: number | undefined = 0; next !== undefined; ) {
    const part: Part = await read({ cellIndexStart: next, includeOutputs: true });
    expect(part.cells[0]?.id).toBe(`c${next}`);
    for (const { id, source, next_source_from: from } of part.cells) {
      let text = source.join('');
      if (from !== undefined && found.length < 5) {
        const [more] = (await read({ cellId: id, sourceFrom: from })).cells;
        text += more?.source.join('');
        expect(sources[found.length]?.startsWith(text)).toBe(true);
      } else expect(text).toBe(from === undefined ? sources[found.length] : sources[found.length]?.slice(0, from));
      found.push(id);
    }
    expect(part.cells_left_out ?? 0).toBe(sources.length - found.length);
    next = part.next_cell_index;
  }
  expect(found).toHaveLength(sources.length);
});

it('get_cells answers all of a notebook that fits', { tags: ['P-662'] }, async () => {
  const notebook = openNotebook(Array.from({ length: 80 }, (_, index) => `x = ${index}`));
  onTestFinished(() => notebook.session.close());
  const { cells, next_cell_index: next } = (await notebook.call('get_cells')).value as Part;
  expect([cells.length, next, cells.some((cell) => 'next_source_from' in cell)]).toEqual([80, undefined, false]);
});
