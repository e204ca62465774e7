// @module-tag P-247

import { linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { isSameFile } from './same-file.js';

it('isSameFile knows a folder by another path; another name, or another folder of that name, is another file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'notebridge-same-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of ['a', 'b']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'a', 'w.ipynb'), '');
  linkSync(join(folder, 'a', 'w.ipynb'), join(folder, 'b', 'w.ipynb'));
  const file = join(folder, 'a', 'w.ipynb');
  expect(isSameFile(file, `${folder}/b/../a/w.ipynb`)).toBe(true);
  // A file that is not there yet.
  expect(isSameFile(join(folder, 'a', 'new.ipynb'), `${folder}/b/../a/new.ipynb`)).toBe(true);
  expect(isSameFile(file, join(folder, 'b', 'w.ipynb'))).toBe(false);
  expect(isSameFile(file, join(folder, 'a', 'new.ipynb'))).toBe(false);
  expect(isSameFile(join(folder, 'gone', 'w.ipynb'), file)).toBe(false);
});
