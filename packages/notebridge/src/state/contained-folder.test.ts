import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ContainedFolder } from './contained-folder.js';

let base: string;
let folder: ContainedFolder;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'notebridge-contained-')));
  await mkdir(join(base, 'in', 'deep'), { recursive: true });
  await writeFile(join(base, 'secret'), 'secret');
  await mkdir(join(base, 'in-beside'));
  await writeFile(join(base, 'in-beside', 'secret'), 'secret');
  await writeFile(join(base, 'in', 'deep', 'a.txt'), 'A');
  const opened = await ContainedFolder.open(join(base, 'in'));
  if (opened === undefined) throw new Error('The folder was not opened');
  folder = opened;
});
afterEach(() => rm(base, { recursive: true, force: true }));

const read = async (path: string) => {
  const result = await folder.read(path, 100);
  return result.kind === 'read' ? result.bytes.toString() : result.kind;
};

describe('ContainedFolder', () => {
  it('reads and lists what is inside, through links too', async () => {
    await symlink('deep/a.txt', join(base, 'in', 'link'));
    await symlink('deep', join(base, 'in', 'folder-link'));
    expect(await read('deep/a.txt')).toBe('A');
    expect(await read('link')).toBe('A');
    expect(await read('folder-link/a.txt')).toBe('A');
    expect(await read('deep')).toBe('folder');
    expect(await read('none')).toBe('absent');
    expect(await folder.list()).toEqual([
      { name: 'deep', path: 'deep', kind: 'folder' },
      { name: 'folder-link', path: 'folder-link', kind: 'folder' },
      { name: 'link', path: 'link', kind: 'file' },
    ]);
    expect(await folder.list('deep')).toEqual([{ name: 'a.txt', path: 'deep/a.txt', kind: 'file' }]);
  });

  it('may itself be reached by a link', async () => {
    await symlink(join(base, 'in'), join(base, 'way'));
    const opened = await ContainedFolder.open(join(base, 'way'));
    expect(opened?.path).toBe(join(base, 'in'));
    expect((await opened?.read('deep/a.txt', 10))?.kind).toBe('read');
  });

  it.each(['../secret', 'deep/../../secret', '../in-beside/secret', '..', '../none', 'out', 'out-folder/secret', 'out-deep/b'])(
    'reads nothing outside by "%s"',
    async (path) => {
      await symlink('../secret', join(base, 'in', 'out'));
      await symlink(base, join(base, 'in', 'out-folder'));
      await mkdir(join(base, 'other'));
      await writeFile(join(base, 'other', 'b'), 'secret');
      await symlink(join(base, 'other'), join(base, 'in', 'out-deep'));
      expect(await read(path)).toBe('outside');
      expect(await folder.enter(path)).toBeUndefined();
      expect(await folder.list(path)).toEqual([]);
      expect(await folder.realPathOf(path)).toBeUndefined();
      expect(await folder.versionOf(path)).toBeUndefined();
      expect((await folder.list()).filter(({ kind }) => kind === 'outside')).toHaveLength(3);
    },
  );

  it('takes an absolute path for one inside', async () => {
    expect(await read(join(base, 'secret'))).toBe('absent');
    expect(await read('/deep/a.txt')).toBe('A');
    expect(await read('deep/a.txt\0')).toBe('absent');
  });

  it('neither hangs at a pipe nor follows links in a circle', async () => {
    execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', join(base, 'in', 'pipe')]);
    await symlink('circle', join(base, 'in', 'circle'));
    expect(await folder.read('pipe', 100)).toEqual({ kind: 'unreadable', why: 'is not a regular file' });
    expect(await read('circle')).toBe('outside');
  });

  it('reads no more than it may', async () => {
    await writeFile(join(base, 'in', 'large'), 'x'.repeat(101));
    expect(await folder.read('large', 100)).toEqual({ kind: 'unreadable', why: 'is 101 bytes large; at most 100 are read' });
  });

  it('never reads outside while a folder is swapped for a link to elsewhere and back', async () => {
    await mkdir(join(base, 'evil'));
    await writeFile(join(base, 'evil', 'a.txt'), 'secret');
    await symlink(join(base, 'evil'), join(base, 'swap'));
    let isOver = false;
    let swaps = 0;
    const swapping = (async () => {
      while (!isOver) {
        await rename(join(base, 'in', 'deep'), join(base, 'kept'));
        await rename(join(base, 'swap'), join(base, 'in', 'deep'));
        await rename(join(base, 'in', 'deep'), join(base, 'swap'));
        await rename(join(base, 'kept'), join(base, 'in', 'deep'));
        swaps++;
        for (let turn = 0; turn < swaps % 50; turn++) await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    const seen = new Set<string>();
    for (let turn = 0; turn < 1000; turn++) seen.add(await read('deep/a.txt'));
    isOver = true;
    await swapping;
    expect(swaps).toBeGreaterThan(10);
    expect(seen).toContain('A');
    expect(seen).not.toContain('secret');
  });

  it('tells a changed file by its version', async () => {
    const before = await folder.versionOf('deep/a.txt');
    expect(before).toBeTypeOf('string');
    expect(await folder.versionOf('deep/a.txt')).toBe(before);
    await writeFile(join(base, 'in', 'deep', 'a.txt'), 'AB');
    expect(await folder.versionOf('deep/a.txt')).not.toBe(before);
    expect(await folder.versionOf('deep')).toBeUndefined();
  });
});
