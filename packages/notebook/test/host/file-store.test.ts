import { execFileSync } from 'node:child_process';
import { chmod, lstat, mkdir, readdir, readFile, rm, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { describe, expect, it } from 'vitest';
import { FileStore } from '../../src/host/file-store.js';
import { parseNotebook } from '../../src/model/nbformat.js';
import { pythonVerdicts } from '../support/nbformat.js';
import { temporaryFolder } from './support/folder.js';
import { bundle, exitOf, onLine, startProgram } from './support/programs.js';
import { ann, openStore, quick, stateOf } from './support/stores.js';

const minimal = (cells = '[]') => `{\n "cells": ${cells},\n "metadata": {},\n "nbformat": 4,\n "nbformat_minor": 5\n}\n`;

async function readCells(path: string) {
  return parseNotebook(await readFile(path, 'utf8')).notebook.cells;
}

describe('opening', () => {
  it('makes a notebook that Python’s nbformat takes, with no leftovers but its lock', async () => {
    const folder = await temporaryFolder();
    const store = await openStore({ path: join(folder, 'new.ipynb') });
    expect(await pythonVerdicts([await readFile(store.path, 'utf8')])).toEqual([undefined]);
    expect((await readdir(folder)).sort()).toEqual(['.new.ipynb.notebridge-lock', 'new.ipynb']);
    await store.close();
    await store.close();
    expect(await readdir(folder)).toEqual(['new.ipynb']);
  });

  it('leaves a file as it is, to the letter, until something changes', { tags: ['P-096'] }, async () => {
    const path = join(await temporaryFolder(), 'old.ipynb');
    const text = '{"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [{"cell_type":"raw","metadata":{},"source":"a"}]}';
    await writeFile(path, text);
    const store = await openStore({ path });
    await store.save();
    await store.close();
    expect(await readFile(path, 'utf8')).toBe(text);
  });

  it.each([
    ['no JSON', 'hello', 'bad_notebook', 'line 1, column 1: a value was expected. Fix that place'],
    ['an unfinished merge', '{\n<<<<<<< HEAD\n', 'bad_notebook', 'unfinished git merge'],
    ['an empty file', '', 'bad_notebook', 'is empty. Delete the file'],
    ['version 5', '{"nbformat": 5, "nbformat_minor": 0, "metadata": {}, "cells": []}', 'bad_notebook', 'has to be 2, 3 or 4'],
    ['what is no cell', minimal('[\n  "code"\n ]'), 'bad_notebook', 'line 3: cells[0]'],
    ['what is not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'bad_notebook', 'not UTF-8'],
  ])('refuses %s with the place, and does not touch it', { tags: ['P-098'] }, async (_, content, code, place) => {
    const folder = await temporaryFolder();
    const path = join(folder, 'bad.ipynb');
    await writeFile(path, content);
    await expect(openStore({ path })).rejects.toMatchObject({ code, message: expect.stringContaining(place) });
    await expect(openStore({ path })).rejects.toThrow(`Cannot open "${path}"`);
    expect(await readFile(path)).toEqual(Buffer.from(content));
    expect(await readdir(folder)).toEqual(['bad.ipynb']);
  });

  it('refuses 200 GB without reading it', async () => {
    const path = join(await temporaryFolder(), 'huge.ipynb');
    await writeFile(path, '');
    await truncate(path, 200 * 2 ** 30);
    await expect(openStore({ path })).rejects.toMatchObject({ code: 'too_large', message: expect.stringContaining(' MiB;') });
  });

  it('refuses a folder, a device and a path that leads nowhere, saying what to do', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'folder.ipynb'));
    await expect(openStore({ path: join(folder, 'folder.ipynb') })).rejects.toMatchObject({
      code: 'file_unreadable',
      data: { reason: 'EISDIR' },
    });
    await expect(openStore({ path: '/dev/zero' })).rejects.toMatchObject({
      code: 'file_unreadable',
      message: expect.stringContaining('no regular file'),
    });
    await expect(openStore({ path: join(folder, 'no', 'such.ipynb') })).rejects.toThrow('Create the folder');
  });

  it('removes what a killed host left beside the file, and nothing else', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, '.a.ipynb.notebridge-0123456789ab.tmp'), 'half');
    await writeFile(join(folder, '.b.ipynb.notebridge-0123456789ab.tmp'), 'half');
    await openStore({ path: join(folder, 'a.ipynb') });
    expect((await readdir(folder)).sort()).toEqual(['.a.ipynb.notebridge-lock', '.b.ipynb.notebridge-0123456789ab.tmp', 'a.ipynb']);
  });
});

describe('saving', () => {
  it('happens by itself soon after a change', async () => {
    const store = await openStore();
    const states: string[] = [];
    store.onState(({ kind }) => states.push(kind));
    store.document.insert(0, { type: 'code', source: '1+1' }, { by: ann });
    expect(store.state).toEqual({ kind: 'unsaved' });
    await stateOf(store, 'saved');
    expect(states).toEqual(['unsaved', 'saving', 'saved']);
    expect(await readCells(store.path)).toMatchObject([{ source: '1+1' }]);
  });

  it('happens also while changes keep coming', async () => {
    const store = await openStore({ timing: { quietMs: 100_000, longestMs: 50 } });
    const { id } = store.document.insert(0, { type: 'code', source: '' }, { by: ann });
    const typing = setInterval(() => store.document.update(id, `${Date.now()} ${Math.random()}`, { by: ann }), 1);
    try {
      await stateOf(store, 'saving');
    } finally {
      clearInterval(typing);
    }
  });

  it('happens at once when asked, and when closed', async () => {
    const store = await openStore({ timing: { quietMs: 100_000, longestMs: 100_000 } });
    store.document.insert(0, { type: 'raw', source: 'a' }, { by: ann });
    await store.save();
    expect(await readCells(store.path)).toHaveLength(1);
    store.document.insert(0, { type: 'raw', source: 'b' }, { by: ann });
    await store.close();
    expect(await readCells(store.path)).toHaveLength(2);
  });

  it('keeps the mode and the link, and replaces what the link points to', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'real.ipynb'), minimal());
    await chmod(join(folder, 'real.ipynb'), 0o640);
    await symlink('real.ipynb', join(folder, 'link.ipynb'));
    const store = await openStore({ path: join(folder, 'link.ipynb') });
    store.document.insert(0, { type: 'raw', source: 'a' }, { by: ann });
    await store.save();
    expect((await lstat(join(folder, 'link.ipynb'))).isSymbolicLink()).toBe(true);
    expect((await stat(join(folder, 'real.ipynb'))).mode & 0o7777).toBe(0o640);
    expect(await readCells(join(folder, 'real.ipynb'))).toHaveLength(1);
  });

  it('reads no other notebook by a link that was put in its place, and replaces it by none', { tags: ['P-243'] }, async () => {
    const folder = await temporaryFolder();
    const secret = join(await temporaryFolder(), 'secret.ipynb');
    await writeFile(secret, minimal('[\n  {"cell_type": "raw", "id": "a", "metadata": {}, "source": "the secret"}\n ]'));
    const store = await openStore({ path: join(folder, 'a.ipynb') });
    await rm(store.path);
    await symlink(secret, store.path);
    await expect(store.check()).rejects.toThrow(/it is a link now/);
    store.document.insert(0, { type: 'raw', source: 'mine' }, { by: ann });
    await expect(store.save()).rejects.toMatchObject({ code: 'not_saved' });
    expect(store.document.cells.map(({ source }) => source)).toEqual(['mine']);
    expect(await readFile(secret, 'utf8')).not.toContain('mine');
    await rm(store.path);
    await store.close().catch(() => {});
  });

  it('keeps what later versions of nbformat may bring', async () => {
    const path = join(await temporaryFolder(), 'later.ipynb');
    await writeFile(path, minimal().replace('"nbformat_minor": 5', '"nbformat_minor": 7,\n "zukunft": {"b": 1, "a": 1.0}'));
    const store = await openStore({ path });
    store.document.insert(0, { type: 'raw', source: 'a' }, { by: ann });
    await store.save();
    const text = await readFile(path, 'utf8');
    expect(text).toContain('"nbformat_minor": 7');
    expect(text).toContain('"zukunft": {"b": 1, "a": 1.0}');
  });

  it('a file that may not be written makes saving fail with advice, is tried again, and the work is kept at the end', async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'locked.ipynb');
    await writeFile(path, minimal());
    await chmod(path, 0o444);
    const store = await openStore({ path });
    store.document.insert(0, { type: 'raw', source: 'a' }, { by: ann });
    await stateOf(store, 'failed');
    expect(store.state).toMatchObject({ detail: expect.stringMatching(/permission denied \(EACCES\).*Give yourself permission/) });
    await expect(store.save()).rejects.toMatchObject({ code: 'not_saved', data: { reason: 'EACCES' } });
    expect(await readFile(path, 'utf8')).toBe(minimal());
    await chmod(path, 0o644);
    await stateOf(store, 'saved');
    expect(await readCells(path)).toHaveLength(1);
    await chmod(path, 0o444);
    store.document.insert(0, { type: 'raw', source: 'b' }, { by: ann });
    const error = await store.close().then(
      () => undefined,
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ code: 'not_saved' });
    expect(await readCells(error.data.rescuedTo)).toHaveLength(2);
    expect(await readdir(folder)).toHaveLength(2);
  });
});

describe('the lock', () => {
  it('names who has the file open, also by another path', { tags: ['P-101'] }, async () => {
    const folder = await temporaryFolder();
    const store = await openStore({ path: join(folder, 'a.ipynb') });
    await symlink('a.ipynb', join(folder, 'b.ipynb'));
    await expect(openStore({ path: join(folder, 'b.ipynb') })).rejects.toMatchObject({
      code: 'file_in_use',
      message: expect.stringContaining('this process'),
      data: { pid: process.pid },
    });
    await store.close();
    await openStore({ path: join(folder, 'b.ipynb') });
  });

  it.each([
    ['a link', (lock: string) => symlink('/dev/zero', lock)],
    ['a folder', (lock: string) => mkdir(lock)],
    ['nothing', async () => {}],
  ])(
    '%s in its place, put there while the notebook is open, keeps it from being closed by nothing',
    { tags: ['P-629'] },
    async (_, place) => {
      const path = join(await temporaryFolder(), 'a.ipynb');
      const lock = `${path.replace('a.ipynb', '.a.ipynb')}.notebridge-lock`;
      const store = await openStore({ path });
      store.document.insert(0, { type: 'raw', source: 'kept' }, { by: ann });
      await rm(lock);
      await place(lock);
      await store.close();
      expect(await readFile(path, 'utf8')).toContain('kept');
    },
  );

  it('a process that holds the lock is named, until it is killed', { tags: ['P-101'] }, async () => {
    const path = join(await temporaryFolder(), 'a.ipynb');
    const child = startProgram(process.execPath, [await bundle('./edit-and-save.ts'), path]);
    await new Promise<void>((resolve) => onLine(child, () => resolve()));
    await expect(openStore({ path })).rejects.toMatchObject({
      code: 'file_in_use',
      message: expect.stringContaining(`process ${child.pid},`),
    });
    child.kill('SIGKILL');
    await exitOf(child);
    await openStore({ path });
  });

  it('a killed process holds nothing, though its parent has not asked how it ended', { tags: ['P-101'] }, async ({ skip }) => {
    skip(process.platform !== 'linux', 'elsewhere the system does not say that a process has ended');
    const path = join(await temporaryFolder(), 'a.ipynb');
    const parent = startProgram('sh', [
      '-c',
      '"$0" "$@" & echo $!; exec sleep 1000',
      process.execPath,
      await bundle('./edit-and-save.ts'),
      path,
    ]);
    const lines: string[] = [];
    onLine(parent, (line) => lines.push(line));
    await expect.poll(() => lines.length).toBeGreaterThan(1);
    const pid = Number(lines.find((line) => /^\d+$/.test(line)));
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => readFile(`/proc/${pid}/stat`, 'utf8')).toContain(') Z ');
    await openStore({ path });
  });

  it('is readable by its owner only', async () => {
    const store = await openStore();
    const found = await stat(join(store.path, '..', '.test.ipynb.notebridge-lock'));
    expect(found.mode & 0o777).toBe(0o600);
  });

  it.each([
    ['a process that is gone', { pid: 2 ** 22 + 1, processStart: '1' }],
    ['a process whose number another one has now', { pid: process.pid, processStart: '1' }],
    ['a process that never ends, without its start', { pid: 1, processStart: '' }],
    ['a machine that has touched it long after now', { pid: 1, processStart: '1', machine: 'elsewhere' }],
    ['a container that is gone', { pid: process.pid, pidNamespace: 'pid:[1]' }],
    ['nobody that can be read', undefined],
  ])('a lock of %s is taken over', { tags: ['P-101'] }, async (_, holder) => {
    const path = join(await temporaryFolder(), 'a.ipynb');
    const { hostname } = await import('node:os');
    const lock = `${path.replace('a.ipynb', '.a.ipynb')}.notebridge-lock`;
    await writeFile(lock, holder ? JSON.stringify({ machine: hostname(), ...holder, since: 'x', nonce: 'y' }) : 'garbage');
    const touched = new Date(holder && 'machine' in holder ? '2096-01-01' : '2026-01-01');
    await utimes(lock, touched, touched);
    await openStore({ path });
  });

  it('a process of another container holds it as long as it touches it', { tags: ['P-101'] }, async () => {
    const path = join(await temporaryFolder(), 'a.ipynb');
    const { hostname } = await import('node:os');
    const holder = { pid: 2 ** 22 + 1, processStart: '1', machine: hostname(), pidNamespace: 'pid:[1]', since: 'x', nonce: 'y' };
    await writeFile(`${path.replace('a.ipynb', '.a.ipynb')}.notebridge-lock`, JSON.stringify(holder));
    await expect(openStore({ path })).rejects.toMatchObject({ code: 'file_in_use', message: expect.stringContaining('another container') });
  });

  it.each([
    ['a link', (lock: string) => symlink('/dev/zero', lock)],
    ['a pipe', async (lock: string) => void execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', lock])],
    ['a large file', (lock: string) => truncate(lock, 2 ** 40)],
    ['a folder', (lock: string) => mkdir(lock)],
  ])('a lock that is %s is neither followed nor waited for, and named', async (what, place) => {
    const path = join(await temporaryFolder(), 'a.ipynb');
    const lock = `${path.replace('a.ipynb', '.a.ipynb')}.notebridge-lock`;
    if (what === 'a large file') await writeFile(lock, '');
    await place(lock);
    await expect(openStore({ path })).rejects.toMatchObject({ code: 'file_in_use', message: expect.stringContaining(lock) });
  });

  it('lets one of many through', async () => {
    const path = join(await temporaryFolder(), 'a.ipynb');
    await writeFile(path, minimal());
    const attempts = Array.from({ length: 20 }, () => FileStore.open({ path, timing: quick, logger: silentLogger }));
    const settled = await Promise.allSettled(attempts);
    const opened = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(opened).toHaveLength(1);
    await opened[0]?.close();
    await rm(path);
  });
});
