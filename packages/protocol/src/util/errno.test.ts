import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { errnoOf, reasonOf, remedyOf } from './errno.js';

const systemError = (code: string): Error => Object.assign(new Error(`${code}: something, open '/x'`), { code });

describe('errno', () => {
  it('puts a real system error in words', async () => {
    const thrown = await readFile(tmpdir()).catch((error: unknown) => error);
    expect(errnoOf(thrown)).toBe('EISDIR');
    expect(reasonOf(thrown)).toBe('it is a folder (EISDIR)');
    expect(remedyOf(thrown)).toContain('Name a file');
  });

  it.each([
    ['EACCES', 'permission denied (EACCES)', 'permission'],
    ['ENOSPC', 'no space is left on the disk (ENOSPC)', 'Free some space'],
    ['EROFS', 'the file system is read-only (EROFS)', 'can be written to'],
  ])('knows %s', (code, reason, remedy) => {
    expect(reasonOf(systemError(code))).toBe(reason);
    expect(remedyOf(systemError(code))).toContain(remedy);
  });

  it('keeps the message of what it does not know', () => {
    expect(reasonOf(systemError('EWHATEVER'))).toContain('EWHATEVER: something');
    expect(reasonOf('just text')).toBe('just text');
    expect(errnoOf('just text')).toBeUndefined();
    expect(remedyOf(undefined)).toContain('try again');
  });
});
