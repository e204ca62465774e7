// @module-tag deep

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sealFiles } from '@notebridge/bindings';
import { expect, it, onTestFinished } from 'vitest';
import { packArchive } from './served-bindings.js';

const long = `mcp/${'s'.repeat(80)}/${'t'.repeat(80)}.py`;
const files = sealFiles(
  new Map([
    ['b.py', 'b = "größe"\n'],
    [long, 'x = 1\n'],
    ['a/empty.py', ''],
  ]),
  [],
);

it('packs files that the system unpacks as they were, long names too', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'notebridge-archive-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'it.tar.gz'), await packArchive(files));
  const { status, stderr } = spawnSync('tar', ['-xzf', 'it.tar.gz'], { cwd: folder, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  for (const [path, text] of files.files) expect(readFileSync(join(folder, 'generated', path), 'utf8')).toBe(text);
  expect(statSync(join(folder, 'generated', 'b.py')).mode & 0o777).toBe(0o644);
  expect(statSync(join(folder, 'generated', 'b.py')).mtimeMs).toBe(0);
});

it('gives the same bytes for the same files, in whatever order they came', async () => {
  const other = sealFiles(new Map([...files.files].reverse()), []);
  expect(other.contentHash).toBe(files.contentHash);
  expect(Buffer.from(await packArchive(other))).toEqual(Buffer.from(await packArchive(files)));
});
