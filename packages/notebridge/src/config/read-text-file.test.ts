import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readTextFile } from './read-text-file.js';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'notebridge-read-'));
  path = join(folder, 'file');
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe('readTextFile', () => {
  it('reads UTF-8 without its byte order mark', async () => {
    await writeFile(path, '\ufeffgrün');
    expect(await readTextFile(path, 100)).toEqual({ kind: 'text', text: 'grün' });
  });

  it('distinguishes an absent file from an unreadable one', async () => {
    expect(await readTextFile(path, 100)).toEqual({ kind: 'absent' });
    await writeFile(path, '');
    expect(await readTextFile(join(path, 'below'), 100)).toEqual({ kind: 'absent' });
    await symlink('circle', join(folder, 'circle'));
    expect(await readTextFile(join(folder, 'circle'), 100)).toMatchObject({ kind: 'unreadable', why: expect.stringContaining('ELOOP') });
  });

  it('reads up to the bound and refuses one byte more', async () => {
    await writeFile(path, 'x'.repeat(100));
    expect((await readTextFile(path, 100)).kind).toBe('text');
    expect(await readTextFile(path, 99)).toMatchObject({ kind: 'unreadable', why: 'is 100 bytes large; at most 99 are read' });
  });

  it('refuses a folder', async () => {
    await mkdir(path);
    expect(await readTextFile(path, 100)).toMatchObject({ kind: 'unreadable', why: 'is a folder' });
  });

  it('refuses a device, which would never end', async ({ skip }) => {
    skip(process.platform === 'win32', 'Windows has no /dev/zero');
    expect(await readTextFile('/dev/zero', 100)).toMatchObject({ kind: 'unreadable', why: 'is not a regular file' });
  });

  it('refuses other encodings', async () => {
    await writeFile(path, Buffer.from([0x7b, 0xff, 0x7d]));
    expect(await readTextFile(path, 100)).toMatchObject({ kind: 'unreadable', why: 'is not UTF-8 text', next: 'Save it as UTF-8.' });
    await writeFile(path, Buffer.from('\ufeff{}', 'utf16le'));
    expect(await readTextFile(path, 100)).toMatchObject({ kind: 'unreadable', why: 'is not UTF-8 text, but UTF-16' });
  });
});
