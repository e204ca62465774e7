import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tryFileLock, withFileLock } from './file-lock.js';

let dir: string;
const path = (): string => join(dir, 'lock');
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'notebridge-lock-'));
});
afterEach(async () => {
  await rm(dir, { recursive: true, force: true });
});

describe('tryFileLock', () => {
  it('gives the lock to one at a time, and leaves nothing behind', async () => {
    const first = tryFileLock(path());
    expect(first?.isHeld()).toBe(true);
    expect(tryFileLock(path())).toBeUndefined();
    first?.release();
    first?.release();
    const second = tryFileLock(path());
    expect(second?.isHeld()).toBe(true);
    second?.release();
    expect(await readdir(dir)).toEqual([]);
  });

  it('takes over from a dead holder, who knows it if it was only asleep, and cannot release what is not its own', async () => {
    const asleep = tryFileLock(path());
    const before = new Date(Date.now() - 6000);
    await utimes(path(), before, before);
    const second = tryFileLock(path());
    expect([asleep?.isHeld(), second?.isHeld()]).toEqual([false, true]);
    asleep?.release();
    expect(second?.isHeld()).toBe(true);
  });
});

describe('a lock that names its owner', () => {
  const owner = (name: string, ended: readonly string[]) => ({ name, hasEnded: (other: string) => ended.includes(other) });

  it('is taken over at once when the owner has ended, and not before', { tags: ['P-227'] }, () => {
    const first = tryFileLock(path(), owner('first', []));
    expect(tryFileLock(path(), owner('second', []))).toBeUndefined();
    // One that does not know owners waits as long as for any other.
    expect(tryFileLock(path())).toBeUndefined();
    const second = tryFileLock(path(), owner('second', ['first']));
    expect([first?.isHeld(), second?.isHeld()]).toEqual([false, true]);
    first?.release();
    expect(second?.isHeld()).toBe(true);
    second?.release();
  });
});

describe('withFileLock', () => {
  it('no two work at once under one lock', async () => {
    let working = 0;
    const work = async (): Promise<void> => {
      expect(++working).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      working--;
    };
    await Promise.all(Array.from({ length: 20 }, () => withFileLock(path(), work)));
    expect(await readdir(dir)).toEqual([]);
  });

  it('holds a lock whose file is a little ahead of our clock', async () => {
    await writeFile(path(), 'held');
    const ahead = (Date.now() + 500) / 1000;
    await utimes(path(), ahead, ahead);
    expect(tryFileLock(path())).toBeUndefined();
  });

  it('gives up with a message when another process keeps the lock, and releases it when the work fails', async () => {
    await writeFile(path(), 'held');
    await expect(withFileLock(path(), async () => {}, { timeoutMs: 20 })).rejects.toMatchObject({
      code: 'write_failed',
      data: { reason: 'locked' },
    });
    await rm(path());
    await expect(withFileLock(path(), async () => Promise.reject(new Error('work')))).rejects.toThrow('work');
    expect(await readdir(dir)).toEqual([]);
  });

  it('says why when there can be no lock', async () => {
    await expect(withFileLock(join(dir, 'none', 'lock'), async () => {})).rejects.toMatchObject({
      code: 'write_failed',
      data: { reason: 'ENOENT' },
    });
  });
});
