import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findWritten } from '../starts/find-written.js';
import { writeOutput } from './output-file.js';

let base: string;
let given: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-output-')));
  given = join(base, 'given');
  for (const folder of ['given/charts', 'keys']) mkdirSync(join(base, folder), { recursive: true });
  writeFileSync(join(base, 'keys/id'), 'key');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const write = (path: string, text = 'new'): Promise<void> => writeOutput(path, text, (asked) => findWritten(asked, [given]));
const read = (path: string): string => readFileSync(join(base, path), 'utf8');

it('follows no link that code has put into a folder that it was given', { tags: ['P-623'] }, async () => {
  symlinkSync('../keys/id', join(given, 'x.png'));
  await write(join(given, 'x.png'));
  expect([read('given/x.png'), read('keys/id')]).toEqual(['new', 'key']);
  symlinkSync('../keys', join(given, 'out'));
  await expect(write(join(given, 'out/id'))).rejects.toThrow('leads out of that folder');
  await expect(write(join(given, 'out/new'))).rejects.toThrow('leads out of that folder');
  expect([readdirSync(join(base, 'keys')), read('keys/id')]).toEqual([['id'], 'key']);
});

it('writes there as ever, also by a link within, and into a folder that a link of the person names', async () => {
  await write(join(given, 'charts/one.png'), 'one');
  symlinkSync('charts', join(given, 'pictures'));
  await write(join(given, 'pictures/one.png'), 'two');
  symlinkSync(given, join(base, 'project'));
  await write(join(base, 'project/charts/three.png'), 'three');
  expect([readdirSync(join(given, 'charts')), read('given/charts/one.png')]).toEqual([['one.png', 'three.png'], 'two']);
  // Elsewhere a link is the person's own.
  symlinkSync('id', join(base, 'keys/mine'));
  await write(join(base, 'keys/mine'));
  expect(read('keys/id')).toBe('new');
});

it('says what the system says where it cannot write, and leaves nothing', async () => {
  await expect(write(join(given, 'absent/x.png'))).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(write(join(given, 'charts'))).rejects.toMatchObject({ code: 'EISDIR' });
  expect(readdirSync(given)).toEqual(['charts']);
});
