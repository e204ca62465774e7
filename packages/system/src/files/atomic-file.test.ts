// @module-tag deep

import {
  chmod,
  chown,
  type FileHandle,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { writeFileAtomic } from './atomic-file.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'notebridge-atomic-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;
const failure = async (writing: Promise<void>): Promise<BridgeError> => {
  const error = await writing.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof BridgeError)) throw new Error(`expected a BridgeError, got ${String(error)}`);
  return error;
};
const nobody = 65_534;

/** Permission bits do not bind root, so a test of them becomes an ordinary user for its time. */
async function asOrdinaryUser(work: () => Promise<void>): Promise<void> {
  if (process.geteuid?.() !== 0) return work();
  for (const path of [folder, ...(await readdir(folder)).map((name) => join(folder, name))]) await chown(path, nobody, nobody);
  process.seteuid?.(nobody);
  try {
    await work();
  } finally {
    process.seteuid?.(0);
  }
}

/** The files and folders that are synced from now on, and what the file at `path` said then. */
async function noteSyncs(path: string) {
  const handle = await open(folder);
  const synced: { of: string; text: string; stood: string | undefined }[] = [];
  const { prototype } = handle.constructor as { prototype: FileHandle };
  const { sync } = prototype;
  const watched = vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
    const of = await readlink(`/proc/self/fd/${this.fd}`);
    const text = of === folder ? '' : await readFile(of, 'utf8');
    synced.push({ of: of === folder ? 'the folder' : 'a file', text, stood: await readFile(path, 'utf8').catch(() => undefined) });
    await sync.call(this);
  });
  await handle.close();
  return { synced, [Symbol.dispose]: () => watched.mockRestore() };
}

describe('writeFileAtomic', () => {
  it.runIf(platform() === 'linux')('has the text on the disk before it takes the place of the old one, and the folder after', async () => {
    const path = join(folder, 'kept.json');
    await writeFileAtomic(path, 'old');
    using noted = await noteSyncs(path);
    await writeFileAtomic(path, 'new');
    expect(noted.synced).toEqual([
      { of: 'a file', text: 'new', stood: 'old' },
      { of: 'the folder', text: '', stood: 'new' },
    ]);
  });

  it('creates a private file, and leaves nothing else in the folder', async () => {
    const path = join(folder, 'new.json');
    await writeFileAtomic(path, 'grün\n');
    expect(await readFile(path, 'utf8')).toBe('grün\n');
    expect(await modeOf(path)).toBe(0o600);
    expect(await readdir(folder)).toEqual(['new.json']);
  });

  it('gives a new file the mode that was asked for, whatever the umask', async () => {
    const path = join(folder, 'new.txt');
    await writeFileAtomic(path, 'x', { mode: 0o666 });
    expect(await modeOf(path)).toBe(0o666);
  });

  it('replaces a file and keeps its mode', async () => {
    const path = join(folder, 'old.txt');
    await writeFile(path, 'a long old text');
    await chmod(path, 0o640);
    await writeFileAtomic(path, 'new', { mode: 0o600 });
    expect(await readFile(path, 'utf8')).toBe('new');
    expect(await modeOf(path)).toBe(0o640);
  });

  it('writes through a symbolic link', async () => {
    await mkdir(join(folder, 'real'));
    await writeFile(join(folder, 'real', 'file.txt'), 'old');
    await symlink(join('real', 'file.txt'), join(folder, 'link.txt'));
    await writeFileAtomic(join(folder, 'link.txt'), 'new');
    expect((await lstat(join(folder, 'link.txt'))).isSymbolicLink()).toBe(true);
    expect(await readFile(join(folder, 'real', 'file.txt'), 'utf8')).toBe('new');
  });

  it('writes through a link whose target does not exist yet', async () => {
    await symlink('later.txt', join(folder, 'link.txt'));
    await writeFileAtomic(join(folder, 'link.txt'), 'new');
    expect(await readlink(join(folder, 'link.txt'))).toBe('later.txt');
    expect(await readFile(join(folder, 'later.txt'), 'utf8')).toBe('new');
  });

  it('lets concurrent writers win one after the other, never mixed', async () => {
    const path = join(folder, 'shared.txt');
    const texts = Array.from({ length: 20 }, (_, index) => String(index).repeat(10_000));
    await Promise.all(texts.map((text) => writeFileAtomic(path, text)));
    expect(texts).toContain(await readFile(path, 'utf8'));
    expect(await readdir(folder)).toEqual(['shared.txt']);
  });

  it('refuses a folder, and says so', async () => {
    const path = join(folder, 'sub');
    await mkdir(path);
    const error = await failure(writeFileAtomic(path, 'x'));
    expect(error.code).toBe('write_failed');
    expect(error.message).toBe(`Cannot write "${path}": it is a folder (EISDIR). Name a file, or move that folder away.`);
    expect(error.data).toEqual({ path, reason: 'EISDIR' });
    expect(await readdir(folder)).toEqual(['sub']);
  });

  it('names a missing folder, and a file where a folder should be', async () => {
    expect((await failure(writeFileAtomic(join(folder, 'none', 'x'), 'x'))).message).toContain('does not exist (ENOENT)');
    await writeFile(join(folder, 'file'), '');
    expect((await failure(writeFileAtomic(join(folder, 'file', 'x'), 'x'))).message).toContain('not a folder (ENOTDIR)');
  });

  it('names links that go in a circle', async () => {
    await symlink('b', join(folder, 'a'));
    await symlink('a', join(folder, 'b'));
    expect((await failure(writeFileAtomic(join(folder, 'a'), 'x'))).message).toContain('ELOOP');
  });

  it('leaves a read-only file alone', async ({ skip }) => {
    skip(process.platform === 'win32', 'Windows has no permission bits');
    skip(process.getuid?.() === 0, 'root may write a read-only file, and access(2) asks for the real user');
    const path = join(folder, 'kept.txt');
    await writeFile(path, 'old');
    await chmod(path, 0o400);
    expect((await failure(writeFileAtomic(path, 'new'))).message).toContain('permission denied (EACCES)');
    expect(await readFile(path, 'utf8')).toBe('old');
    expect(await readdir(folder)).toEqual(['kept.txt']);
  });

  it('leaves the old file alone when its folder is read-only', async ({ skip }) => {
    skip(process.platform === 'win32', 'Windows has no permission bits');
    const path = join(folder, 'kept.txt');
    await writeFile(path, 'old');
    await chmod(folder, 0o500);
    await asOrdinaryUser(async () => {
      expect((await failure(writeFileAtomic(path, 'new'))).message).toContain('permission denied (EACCES)');
    });
    await chmod(folder, 0o700);
    expect(await readFile(path, 'utf8')).toBe('old');
  });
});
