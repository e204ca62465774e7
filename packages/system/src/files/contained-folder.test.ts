// @module-tag P-169

import { execFileSync } from 'node:child_process';
import { readdirSync, renameSync, rmSync } from 'node:fs';
import {
  chmod,
  type FileHandle,
  link,
  mkdir,
  mkdtemp,
  open,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { copyContained } from './contained-copy.js';
import { ContainedFolder } from './contained-folder.js';
import { walkByHandles } from './handle-walk.js';
import { walkByPath } from './path-walk.js';

/** The walk of other systems is tried here as well, as far as nothing is renamed meanwhile. */
const walks = [...(platform() === 'linux' ? [{ name: 'by handles', walk: walkByHandles }] : []), { name: 'by paths', walk: walkByPath }];

let base: string;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'notebridge-contained-')));
  await mkdir(join(base, 'in', 'deep'), { recursive: true });
  await writeFile(join(base, 'secret'), 'secret');
  await mkdir(join(base, 'in-beside'));
  await writeFile(join(base, 'in-beside', 'secret'), 'secret');
  await writeFile(join(base, 'in', 'deep', 'a.txt'), 'A');
});
afterEach(() => rm(base, { recursive: true, force: true }));

it('reads nothing by the walk of other systems where another file, or none, has come to stand at the path meanwhile', async () => {
  const folder = await ContainedFolder.open(join(base, 'in'), { walk: walkByPath });
  const path = join(base, 'in', 'deep', 'a.txt');
  await writeFile(join(base, 'other'), 'B');
  for (const change of [() => renameSync(join(base, 'other'), path), () => rmSync(path)]) {
    const file = await open(path);
    const { prototype } = file.constructor as { prototype: FileHandle };
    await file.close();
    // It is open, and not yet looked at once more.
    const stat = vi.spyOn(prototype, 'stat').mockImplementationOnce(async function (this: FileHandle, options) {
      change();
      return this.stat(options);
    });
    expect(await folder?.read('deep/a.txt', 100)).toEqual({ kind: 'outside' });
    stat.mockRestore();
  }
});

describe.each(walks)('ContainedFolder, $name', ({ walk }) => {
  let folder: ContainedFolder;
  beforeEach(async () => {
    const opened = await ContainedFolder.open(join(base, 'in'), { walk });
    if (opened === undefined) throw new Error('The folder was not opened');
    folder = opened;
  });
  const read = async (path: string) => {
    const result = await folder.read(path, 100);
    return result.kind === 'read' ? result.bytes.toString() : result.kind;
  };

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
      { name: 'folder-link', path: 'folder-link', kind: 'folder', linkTo: 'deep' },
      { name: 'link', path: 'link', kind: 'file', linkTo: 'deep/a.txt' },
    ]);
    expect(await folder.list('deep')).toEqual([{ name: 'a.txt', path: 'deep/a.txt', kind: 'file' }]);
  });

  it('may itself be reached by a link', async () => {
    await symlink(join(base, 'in'), join(base, 'way'));
    const opened = await ContainedFolder.open(join(base, 'way'), { walk });
    expect(opened?.path).toBe(join(base, 'in'));
    expect((await opened?.read('deep/a.txt', 10))?.kind).toBe('read');
  });

  it.each(['../secret', 'deep/../../secret', '../in-beside/secret', '..', '../none', 'out', 'out-folder/secret', 'out-deep/b'])(
    'reads nothing outside by "%s"',
    { tags: ['P-169'] },
    async (path) => {
      await symlink('../secret', join(base, 'in', 'out'));
      await symlink(base, join(base, 'in', 'out-folder'));
      await mkdir(join(base, 'other'));
      await writeFile(join(base, 'other', 'b'), 'secret');
      await symlink(join(base, 'other'), join(base, 'in', 'out-deep'));
      expect(await read(path)).toBe('outside');
      expect(await folder.enter(path)).toBeUndefined();
      expect(await folder.list(path)).toEqual([]);
      expect((await folder.copy(path, join(base, 'copied'), 100)).kind).toBe('outside');
      expect(await folder.versionOf(path)).toBeUndefined();
      expect((await folder.list()).filter(({ kind }) => kind === 'outside')).toHaveLength(3);
    },
  );

  it('takes no folder whose name only begins with that of ours for a part of it', async () => {
    await mkdir(join(base, 'in', '-beside'));
    await writeFile(join(base, 'in', '-beside', 'secret'), 'A');
    await symlink(join(base, 'in-beside', 'secret'), join(base, 'in', 'beside'));
    expect(await read('beside')).toBe('outside');
  });

  it('takes an absolute path for one inside', async () => {
    expect(await read(join(base, 'secret'))).toBe('absent');
    expect(await read('/deep/a.txt')).toBe('A');
    expect(await read('deep/a.txt\0')).toBe('absent');
  });

  it('a look neither hangs at a pipe nor follows links in a circle', async () => {
    execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', join(base, 'in', 'pipe')]);
    await symlink('circle', join(base, 'in', 'circle'));
    expect(await folder.read('pipe', 100)).toEqual({ kind: 'unreadable', why: 'is not a regular file' });
    expect(await read('circle')).toBe('outside');
  });

  it('reads no more than it may', async () => {
    await writeFile(join(base, 'in', 'large'), 'x'.repeat(101));
    expect(await folder.read('large', 100)).toEqual({
      kind: 'unreadable',
      why: 'is 101 bytes large; at most 100 are read',
      isTooLarge: true,
    });
  });

  it('follows links by links, absolute ones and through "..", and none that leads out on the way', async () => {
    await mkdir(join(base, 'in', 'deep', 'er'));
    await symlink('../a.txt', join(base, 'in', 'deep', 'er', 'up'));
    await symlink('deep/er', join(base, 'in', 'way'));
    await symlink('way/../a.txt', join(base, 'in', 'by-link'));
    await symlink(join(base, 'in', 'way', 'up'), join(base, 'in', 'absolute'));
    await symlink('../in/deep/a.txt', join(base, 'in', 'out-and-in'));
    await symlink('nothing', join(base, 'in', 'dangling'));
    expect(await read('way/up')).toBe('A');
    expect(await read('by-link')).toBe('A');
    expect(await read('absolute')).toBe('A');
    expect(await read('dangling')).toBe('absent');
    expect(await read('deep/a.txt/more')).toBe('absent');
    // Where the way leads through what is outside, nothing can be proven.
    expect(['outside', 'A']).toContain(await read('out-and-in'));
  });

  it('keeps a folder that was entered to itself', async () => {
    await symlink('../deep/a.txt', join(base, 'in', 'deep', 'inside'));
    await symlink(join(base, 'in', 'deep', 'a.txt'), join(base, 'in', 'deep', 'absolute'));
    await writeFile(join(base, 'in', 'beside'), 'B');
    await symlink('../beside', join(base, 'in', 'deep', 'beside'));
    const deep = await folder.enter('deep');
    expect(deep?.path).toBe(join(base, 'in', 'deep'));
    const kinds = await Promise.all(['a.txt', 'absolute', 'beside', '../beside'].map((path) => deep?.read(path, 10)));
    expect(kinds.map((result) => result?.kind)).toEqual(['read', 'read', 'outside', 'outside']);
    expect(await deep?.enter('..')).toBeUndefined();
  });

  it('refuses a file with a second name, unless all who can write there are trusted', async () => {
    await link(join(base, 'secret'), join(base, 'in', 'linked'));
    const why = 'has 2 names (hard links), so it may be a file from elsewhere; put a copy in its place';
    expect(await folder.read('linked', 100)).toEqual({ kind: 'unreadable', why });
    expect(await folder.copy('linked', join(base, 'copied'), 100)).toEqual({ kind: 'unreadable', why });
    const trusting = await ContainedFolder.open(join(base, 'in'), { walk, allowsHardLinks: true });
    expect((await trusting?.read('linked', 100))?.kind).toBe('read');
    expect((await (await trusting?.enter('.'))?.read('linked', 100))?.kind).toBe('read');
  });

  it('copies a folder with what is in it: links stay inside of the copy, and none leads out', async () => {
    await writeFile(join(base, 'in', 'deep', 'run.sh'), 'echo');
    await chmod(join(base, 'in', 'deep', 'run.sh'), 0o755);
    await symlink('../deep', join(base, 'in', 'deep', 'circle'));
    await symlink('deep/a.txt', join(base, 'in', 'link'));
    await symlink('../secret', join(base, 'in', 'out'));
    const target = join(base, 'copy');
    expect(await copyContained(folder, target, { entries: 100, bytes: 1000 })).toEqual({ kind: 'copied' });
    expect(readdirSync(target).sort()).toEqual(['deep', 'link']);
    expect(await realpath(join(target, 'link'))).toBe(join(target, 'deep', 'a.txt'));
    expect(await realpath(join(target, 'deep', 'circle', 'circle'))).toBe(join(target, 'deep'));
    expect(await readFile(join(target, 'link'), 'utf8')).toBe('A');
    expect((await stat(join(target, 'deep', 'run.sh'))).mode & 0o777).toBe(0o700);
    expect((await stat(join(target, 'deep', 'a.txt'))).mode & 0o777).toBe(0o600);
  });

  it('copies all of it or fails: a file that cannot be written is not left out', async () => {
    await expect(folder.copy('deep/a.txt', join(base, 'no', 'folder'), 100)).rejects.toMatchObject({
      code: 'write_failed',
      message: `Cannot write "${join(base, 'no', 'folder')}": a part of the path does not exist (ENOENT). Create the folder, or name another path.`,
    });
    await writeFile(join(base, 'taken'), 'before');
    await expect(folder.copy('deep/a.txt', join(base, 'taken'), 100)).rejects.toMatchObject({ code: 'write_failed' });
    expect(await readFile(join(base, 'taken'), 'utf8')).toBe('before');
  });

  it('copies no more than it may', async () => {
    await writeFile(join(base, 'in', 'b'), '12345');
    const copy = async (entries: number, bytes: number) => {
      const target = join(await mkdtemp(join(base, 'copy-')), 'copy');
      return copyContained(folder, target, { entries, bytes });
    };
    expect(await copy(3, 6)).toEqual({ kind: 'copied' });
    expect(await copy(2, 6)).toEqual({ kind: 'refused', why: 'holds more than 2 files, folders and links' });
    expect(await copy(3, 5)).toEqual({ kind: 'refused', why: 'holds more than 5 bytes' });
  });

  it.skipIf(platform() !== 'linux')('closes whatever it opened, however it ends', async () => {
    execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', join(base, 'in', 'pipe')]);
    await symlink('circle', join(base, 'in', 'circle'));
    await symlink('../secret', join(base, 'in', 'out'));
    await symlink('deep/a.txt', join(base, 'in', 'link'));
    const use = async (path: string) => {
      await Promise.all([folder.read(path, 100), folder.read(path, 0), folder.list(path), folder.versionOf(path), folder.enter(path)]);
      await folder.copy(path, join(base, 'no', 'such', 'folder'), 100).catch(() => {});
    };
    const useAll = () =>
      Promise.all(
        ['deep/a.txt', 'deep', 'deep/../deep/a.txt', 'none', 'pipe', 'circle', 'out', 'link', '..', '\0', 'deep/a.txt/x', '.'].map(use),
      );
    await useAll();
    const before = readdirSync('/proc/self/fd').length;
    for (let turn = 0; turn < 20; turn++) await useAll();
    expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before);
  });

  it('stays with its folder, and says that nothing is there, when that is replaced by a link', async () => {
    const deep = await folder.enter('deep');
    await rename(join(base, 'in', 'deep'), join(base, 'in', 'moved'));
    await symlink('../in-beside', join(base, 'in', 'deep'));
    expect((await deep?.read('secret', 100))?.kind).not.toBe('read');
    expect(await deep?.list()).toEqual([]);
  });

  it('recognises a changed file by its version', async () => {
    const before = await folder.versionOf('deep/a.txt');
    expect(before).toBeTypeOf('string');
    expect(await folder.versionOf('deep/a.txt')).toBe(before);
    expect(await folder.read('deep/a.txt', 10)).toMatchObject({ version: before });
    await writeFile(join(base, 'in', 'deep', 'a.txt'), 'AB');
    expect(await folder.versionOf('deep/a.txt')).not.toBe(before);
    expect(await folder.versionOf('deep')).toBeUndefined();
  });
});
