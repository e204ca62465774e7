// @module-tag P-331

import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Swapper, whyNoSwapper } from '../../../notebridge/test/support/swapper.js';
import { FileStore } from '../../src/host/file-store.js';
import { parseNotebook, printNotebook } from '../../src/model/nbformat.js';
import { temporaryFolder } from './support/folder.js';
import { ann, openStore, stateOf } from './support/stores.js';

const secret = printNotebook({
  metadata: {},
  minor: 5,
  cells: [{ id: 'diary', type: 'markdown', source: 'a secret', metadata: {}, outputs: [], executionCount: null }],
});

/** A notebook below `work/sub` is open, and another one is at the same name outside. */
async function furnish() {
  const base = await temporaryFolder();
  const [sub, outside] = [join(base, 'work', 'sub'), join(base, 'outside')];
  for (const folder of [sub, outside]) await mkdir(folder, { recursive: true });
  await writeFile(join(outside, 'x.ipynb'), secret);
  const path = join(sub, 'x.ipynb');
  return { base, sub, outside, path };
}

const sourcesIn = async (path: string) => parseNotebook(await readFile(path, 'utf8')).notebook.cells.map(({ source }) => source);

describe('a folder above the notebook that becomes a link while it is open', () => {
  it('leads nowhere: nothing is read or written behind it, it is said, and when it is a folder again all is saved', async () => {
    const { sub, outside, path } = await furnish();
    const store = await openStore({ path });
    store.document.insert(0, { type: 'raw', source: 'before' }, { by: ann });
    await store.save();
    await rename(sub, `${sub}2`);
    await symlink(outside, sub);
    store.document.insert(1, { type: 'raw', source: 'after' }, { by: ann });
    await stateOf(store, 'failed');
    expect(store.state).toMatchObject({ detail: expect.stringContaining('a part of its path is a link now') });
    await expect(store.save()).rejects.toMatchObject({ code: 'not_saved' });
    expect(await readdir(outside)).toEqual(['x.ipynb']);
    expect(await readFile(join(outside, 'x.ipynb'), 'utf8')).toBe(secret);
    expect(store.document.cells.map(({ source }) => source)).toEqual(['before', 'after']);
    await rm(sub);
    await rename(`${sub}2`, sub);
    await stateOf(store, 'saved');
    expect(await sourcesIn(path)).toEqual(['before', 'after']);
  });

  it('is no place for what could not be saved', async () => {
    const { sub, outside, path } = await furnish();
    const store = await openStore({ path });
    await rename(sub, `${sub}2`);
    await symlink(outside, sub);
    store.document.insert(0, { type: 'raw', source: 'kept' }, { by: ann });
    const error = await store.close().catch((thrown: unknown) => thrown);
    const { rescuedTo } = (error as { data: { rescuedTo: string } }).data;
    expect(rescuedTo).not.toContain(sub);
    expect(await sourcesIn(rescuedTo)).toEqual(['kept']);
    await rm(join(rescuedTo, '..'), { recursive: true });
    expect(await readdir(outside)).toEqual(['x.ipynb']);
  });

  it('is refused when a path without links is opened', async () => {
    const { sub, outside, path } = await furnish();
    await rename(sub, `${sub}2`);
    await symlink(outside, sub);
    await expect(openStore({ path, isReal: true })).rejects.toMatchObject({ code: 'file_unreadable' });
    expect(await readdir(outside)).toEqual(['x.ipynb']);
    // A person may name a way over a link.
    const store = await openStore({ path });
    expect(store.document.cells).toMatchObject([{ source: 'a secret' }]);
  });

  it('is not followed at any moment', async ({ skip }) => {
    const why = whyNoSwapper();
    if (why !== undefined) return skip(why);
    const { base, sub, outside, path } = await furnish();
    const store = await FileStore.open({ path, logger: { debug() {}, info() {}, warn() {}, error() {} } });
    const { id } = store.document.insert(0, { type: 'raw', source: 'mine' }, { by: ann });
    await store.save();
    await symlink(outside, join(base, 'link'));
    await using _ = await Swapper.start(sub, join(base, 'link'));
    let saved = 0;
    for (let turn = 0; turn < 300; turn++) {
      store.document.update(id, `mine ${turn}`, { by: ann });
      saved += await store.save().then(
        () => 1,
        () => 0,
      );
    }
    expect(saved).toBeGreaterThan(0);
    expect(await readdir(outside)).toEqual(['x.ipynb']);
    expect(await readFile(join(outside, 'x.ipynb'), 'utf8')).toBe(secret);
    expect(store.document.cells).toMatchObject([{ source: 'mine 299' }]);
    const error = await store.close().catch((thrown: unknown) => thrown);
    // Closed while a link stood there: what was not saved is in a folder for temporary files, or beside the notebook if that is a folder again.
    const { rescuedTo } = (error as { data: { rescuedTo: string } } | undefined)?.data ?? {};
    if (rescuedTo !== undefined && !rescuedTo.startsWith(base)) await rm(join(rescuedTo, '..'), { recursive: true });
  });
});

it('a folder that is removed and made again, as a change of branches does, is followed', async () => {
  const { sub, path } = await furnish();
  const store = await openStore({ path });
  store.document.insert(0, { type: 'raw', source: 'first' }, { by: ann });
  await store.save();
  const text = await readFile(path, 'utf8');
  await rm(sub, { recursive: true });
  await mkdir(sub);
  await writeFile(path, text.replace('first', 'of another branch'));
  await store.check();
  expect(store.document.cells).toMatchObject([{ source: 'of another branch' }]);
});
