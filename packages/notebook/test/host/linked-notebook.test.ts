// @runs process
// @module-tag P-623

/** Code that may write to a folder puts links there: they choose no file and no folder for what is opened next. */
import { mkdir, readdir, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { toKernelSpec } from '@notebridge/sandbox/kernel-spec';
import { heedWrittenFolders } from '@notebridge/sandbox/written-folders';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from './support/folder.js';
import { openStore } from './support/stores.js';

const given: { path: string }[] = [];
heedWrittenFolders({ known: given, add: async (path) => void given.push({ path }), hold: async () => async () => {} });

let [work, other] = ['', ''];
beforeEach(async () => {
  const base = await temporaryFolder();
  [work, other] = [join(base, 'work'), join(base, 'other')];
  for (const folder of [join(work, 'sub'), other]) await mkdir(folder, { recursive: true });
  given.splice(0, given.length, { path: work });
});

describe('a link that code has put', () => {
  it('in the place of a notebook opens no other one, whether that is there or not', async () => {
    await symlink(join(other, 'x.ipynb'), join(work, 'w.ipynb'));
    await expect(openStore({ path: join(work, 'w.ipynb') })).rejects.toThrow(`a part of its path is a link in "${work}"`);
    await expect(openStore({ path: join(work, 'w.ipynb'), isReal: true })).rejects.toThrow('a part of its path is a link');
    expect(await readdir(other)).toEqual([]);
  });

  it('in the place of a folder above it neither', async () => {
    await rm(join(work, 'sub'), { recursive: true });
    await symlink(other, join(work, 'sub'));
    await expect(openStore({ path: join(work, 'sub/w.ipynb') })).rejects.toThrow(`a part of its path is a link in "${work}"`);
    expect(await readdir(other)).toEqual([]);
  });

  it('within the folder, and one of the person’s own into it, are followed', async () => {
    await symlink(join(work, 'w.ipynb'), join(work, 'sub/w.ipynb'));
    await symlink(work, join(other, 'mine'));
    for (const path of [join(work, 'sub/w.ipynb'), join(other, 'mine/w.ipynb')]) {
      const store = await openStore({ path });
      expect(store.path).toBe(join(work, 'w.ipynb'));
      await store.close();
    }
  });

  it.each(['ro', 'rw'] as const)('in the place of the folder of an open notebook is given to no kernel (%s)', async (files) => {
    const folder = join(work, 'sub');
    await rename(folder, join(work, 'moved'));
    await symlink(other, folder);
    await expect(toKernelSpec({ python: '/usr/bin/python3', args: [], folder, files })).rejects.toThrow('a part of its path is a link now');
  });
});
