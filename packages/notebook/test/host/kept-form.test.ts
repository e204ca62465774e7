import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cellIdsIn } from '../../src/host/kept-files.js';
import { temporaryFolder } from './support/folder.js';
import { ann, openStore } from './support/stores.js';

const oldCode = { cell_type: 'code', collapsed: false, input: ['x = 1'], language: 'python', metadata: {}, outputs: [], prompt_number: 1 };
const version3 = JSON.stringify({
  metadata: { name: '' },
  nbformat: 3,
  nbformat_minor: 0,
  worksheets: [{ cells: [oldCode], metadata: {} }],
});

async function changeFirst(path: string, source: string): Promise<void> {
  const store = await openStore({ path });
  const [cell] = store.document.cells;
  store.document.update(cell?.id ?? '', source, { by: ann });
  await store.close();
}

it('a file of nbformat 3 is written with its first change, beside a copy that replaces nothing', { tags: ['P-654'] }, async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'old.ipynb');
  await writeFile(path, version3);
  await writeFile(join(folder, 'old.v3.ipynb'), 'of somebody else');
  const store = await openStore({ path });
  expect(store.note).toContain('is of nbformat 3 and shown converted');
  await store.save();
  expect(await readFile(path, 'utf8')).toBe(version3);
  store.document.update(store.document.cells[0]?.id ?? '', 'x = 2', { by: ann });
  await store.save();
  expect(store.note).toBeUndefined();
  await store.close();
  expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ nbformat: 4, nbformat_minor: 5, cells: [{ source: ['x = 2'] }] });
  expect((await readdir(folder)).sort()).toEqual(['old.ipynb', 'old.v3-1.ipynb', 'old.v3.ipynb']);
  expect(await readFile(join(folder, 'old.v3-1.ipynb'), 'utf8')).toBe(version3);
  expect(await readFile(join(folder, 'old.v3.ipynb'), 'utf8')).toBe('of somebody else');
  // The same file again needs no other copy.
  await writeFile(path, version3);
  await changeFirst(path, 'x = 3');
  expect((await readdir(folder)).sort()).toEqual(['old.ipynb', 'old.v3-1.ipynb', 'old.v3.ipynb']);
});

it('cells of a file without ids keep theirs over an edit, a restart and a change by another program', { tags: ['P-655'] }, async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'ids.ipynb');
  const cellIds = cellIdsIn(join(folder, 'state'));
  const cell = (source: string) => ({ cell_type: 'raw', metadata: {}, source: [source] });
  const text = JSON.stringify({ cells: [cell('a'), cell('b')], metadata: {}, nbformat: 4, nbformat_minor: 2 });
  await writeFile(path, text);
  const first = await openStore({ path, cellIds });
  const ids = first.document.cells.map(({ id }) => id);
  first.document.update(ids[0] ?? '', 'changed', { by: ann });
  const added = first.document.insert(1, { type: 'raw', source: 'new' }, { by: ann }).id;
  await first.close();
  const saved = await readFile(path, 'utf8');
  expect(saved).toBe(text.replace('"a"', '"changed"').replace('},{"cell', `},${JSON.stringify(cell('new'))},{"cell`));
  const second = await openStore({ path, cellIds });
  expect(second.document.cells.map(({ id }) => id)).toEqual([ids[0], added, ids[1]]);
  await writeFile(path, saved.replace('"cells":[', `"cells":[${JSON.stringify(cell('theirs'))},`).replace('"b"', '"B"'));
  await second.check();
  expect(second.document.cells.map(({ id }) => id)).toEqual([expect.any(String), ids[0], added, ids[1]]);
  expect(second.document.get(ids[1] ?? '').cell.source).toBe('B');
});

it('an edit through the file leaves every other byte as it was, and its undo all of them', { tags: ['P-652'] }, async () => {
  const path = join(await temporaryFolder(), 'form.ipynb');
  const code = (id: string, source: string) => ({
    cell_type: 'code',
    source: [source],
    metadata: {},
    id,
    execution_count: null,
    outputs: [],
  });
  const text = JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells: [code('a', 'é <'), code('b', 'x = 1')] }, null, 2)
    .replaceAll('\n', '\r\n')
    .replace('é <', '\\u00e9 \\u003c');
  await writeFile(path, text);
  const store = await openStore({ path });
  store.document.update('b', 'x = 10', { by: ann });
  await store.save();
  expect(await readFile(path, 'utf8')).toBe(text.replace('x = 1', 'x = 10'));
  store.document.update('b', 'x = 1', { by: ann });
  await store.save();
  expect(await readFile(path, 'utf8')).toBe(text);
});
