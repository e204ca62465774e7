// @module-tag P-415

import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { GrowingFile } from './growing-file.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'notebridge-new-file-'));
  path = join(folder, 'it');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

describe('GrowingFile', () => {
  it('is for the user alone, and grows', () => {
    const file = new GrowingFile(path);
    file.append('1\n');
    file.append('ä\n');
    expect(readFileSync(path, 'utf8')).toBe('1\nä\n');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    file.close();
    file.close();
    file.append('3\n');
    expect(readFileSync(path, 'utf8')).toBe('1\nä\n');
  });

  it('leaves what is there, and takes the next number', () => {
    const named = `${path}.jsonl`;
    writeFileSync(named, 'mine');
    for (const number of [2, 3]) {
      const file = new GrowingFile(named);
      expect(file.path).toBe(`${path}.${number}.jsonl`);
      file.close();
    }
    expect(readFileSync(named, 'utf8')).toBe('mine');
  });

  it('goes on with one that is meant to be gone on with, and is open to nobody else', () => {
    const first = new GrowingFile(path);
    first.append('1\n2');
    first.close();
    const uid = process.getuid?.();
    const file = new GrowingFile(path, { uid, continueAt: (text) => text.indexOf('2') });
    file.append('3\n');
    file.close();
    expect(file.path).toBe(path);
    expect(readFileSync(path, 'utf8')).toBe('1\n3\n');
    chmodSync(path, 0o644);
    const other = new GrowingFile(path, { uid, continueAt: () => 0 });
    other.close();
    expect(other.path).toBe(`${path}.2`);
    expect(readFileSync(path, 'utf8')).toBe('1\n3\n');
  });

  it('replaces a file or a link if asked to, and never writes through the link', () => {
    const target = join(folder, 'target');
    writeFileSync(target, 'theirs');
    symlinkSync(target, path);
    const file = new GrowingFile(path, { replace: true });
    file.append('1\n');
    file.close();
    expect(readFileSync(path, 'utf8')).toBe('1\n');
    expect(readFileSync(target, 'utf8')).toBe('theirs');
  });

  it('refuses what is no file, and says what keeps it from being made', () => {
    mkdirSync(path);
    for (const replace of [false, true]) expect(() => new GrowingFile(path, { replace })).toThrow('is no file. Choose a name');
    writeFileSync(join(folder, 'file'), '');
    expect(() => new GrowingFile(join(folder, 'file', 'it'))).toThrow(/^Cannot make ".*": .*\(ENOTDIR\)/);
    expect(() => new GrowingFile(join(folder, 'none', 'it'))).toThrow(/^Cannot make ".*": .*\(ENOENT\)/);
  });
});
