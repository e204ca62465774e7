// @module-tag deep

/** The host's side of the folder that code in Pyodide reads, attacked by requests that were forged and by what changes meanwhile. */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { walkByHandles } from '@notebridge/system/files/handle-walk';
import { walkByPath } from '@notebridge/system/files/path-walk';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FolderService, type FolderServiceOptions } from '../../src/kernel/folder-service.js';

const secret = 'a key that nobody sees';
let base: string;
let folder: string;
let service: FolderService;
const opened: FolderService[] = [];

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-folder-')));
  folder = join(base, 'in');
  mkdirSync(join(folder, 'sub'), { recursive: true });
  writeFileSync(join(folder, 'data.csv'), 'a,b\n1,2\n');
  writeFileSync(join(folder, 'sub', 'deep.txt'), 'deep');
  mkdirSync(join(base, 'out'));
  writeFileSync(join(base, 'out', 'deep.txt'), secret);
  writeFileSync(join(base, 'secret'), secret);
  service = open();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
  rmSync(base, { recursive: true, force: true });
});

function open(options: Partial<FolderServiceOptions> = {}): FolderService {
  const made = new FolderService({ folder, ...options });
  opened.push(made);
  return made;
}

async function ask(request: object, of = service): Promise<{ [key: string]: unknown; data: Uint8Array | undefined }> {
  const { text, data } = await of.call({ text: JSON.stringify(request) });
  return { ...(JSON.parse(text) as { [key: string]: unknown }), data };
}

async function readAll(path: string, of = service): Promise<string> {
  const { handle, errno } = await ask({ op: 'open', path }, of);
  if (errno !== undefined) return `refused: ${errno}`;
  const { data } = await ask({ op: 'read', handle, at: 0, length: 1000 }, of);
  await ask({ op: 'close', handle }, of);
  return Buffer.from(data ?? []).toString();
}

const descriptors = () => readdirSync('/proc/self/fd').length;

describe.each([
  ...(process.platform === 'linux' ? [{ name: 'by handles', walk: walkByHandles }] : []),
  { name: 'by paths', walk: walkByPath },
])('paths followed $name', ({ walk }) => {
  beforeEach(() => {
    service = open({ walk });
  });

  test('files and folders are looked at, listed and read', async () => {
    expect(await ask({ op: 'look', path: 'data.csv' })).toMatchObject({ kind: 'f', size: 8 });
    expect(await ask({ op: 'look', path: '' })).toMatchObject({ kind: 'd' });
    const { names, kinds } = await ask({ op: 'list', path: '' });
    expect(String(names).split('/').sort()).toEqual(['data.csv', 'sub']);
    expect([...String(kinds)].sort()).toEqual(['d', 'f']);
    expect(await readAll('sub/deep.txt')).toBe('deep');
    expect(await ask({ op: 'look', path: 'none' })).toMatchObject({ errno: 'ENOENT' });
    expect(await ask({ op: 'open', path: 'sub' })).toMatchObject({ errno: 'EISDIR' });
    expect(await ask({ op: 'list', path: 'data.csv' })).toMatchObject({ errno: 'ENOTDIR' });
  });

  test.each([
    '../secret',
    'sub/../../secret',
    '..',
    '.',
    './data.csv',
    '/etc/passwd',
    'sub//deep.txt',
    'data.csv/',
    'data.csv\0',
    'a'.repeat(5000),
  ])('the path %j is none', async (path) => {
    for (const op of ['look', 'open', 'list', 'target']) expect(await ask({ op, path })).toMatchObject({ errno: 'EINVAL' });
  });

  test('links inside are followed, and no link leads out', async () => {
    symlinkSync('sub', join(folder, 'way'));
    symlinkSync(join(base, 'secret'), join(folder, 'key'));
    symlinkSync(join(base, 'out'), join(folder, 'off'));
    symlinkSync('../../secret', join(folder, 'sub', 'up'));
    symlinkSync('/proc/self/environ', join(folder, 'environ'));
    symlinkSync('/proc/self/root', join(folder, 'root'));
    symlinkSync('round', join(folder, 'round'));
    expect(await ask({ op: 'look', path: 'way' })).toMatchObject({ kind: 'l' });
    expect(await ask({ op: 'target', path: 'way' })).toMatchObject({ target: 'sub' });
    expect(await readAll('way/deep.txt')).toBe('deep');
    for (const path of ['key', 'off', 'sub/up', 'environ', 'root']) {
      expect(await ask({ op: 'target', path })).toMatchObject({ errno: 'ENOENT', why: expect.stringMatching(/leads out/) });
      expect(await ask({ op: 'open', path })).toMatchObject({ errno: 'EACCES' });
      expect(await ask({ op: 'list', path })).toMatchObject({ errno: 'EACCES' });
    }
    for (const path of ['off/deep.txt', 'root/etc/passwd']) {
      expect(await readAll(path)).toMatch(/^refused/);
      expect(await ask({ op: 'look', path })).toMatchObject({ errno: 'EACCES' });
    }
    expect(await readAll('round')).toMatch(/^refused/);
  });

  test('a pipe, a socket and a device are not opened, and nobody waits for them', async () => {
    execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', join(folder, 'pipe')]);
    symlinkSync('/dev/zero', join(folder, 'zero'));
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(folder, 'socket'), resolve));
    for (const path of ['pipe', 'socket']) {
      expect(await ask({ op: 'look', path })).toMatchObject({ kind: 'o' });
      expect(await ask({ op: 'open', path })).toMatchObject({ errno: expect.stringMatching(/EACCES|ENXIO/) });
    }
    expect(await readAll('zero')).toMatch(/^refused/);
    await new Promise((resolve) => server.close(resolve));
  });

  test('nothing is shown where people keep keys, and of our own state', async () => {
    mkdirSync(join(folder, '.state', 'more'), { recursive: true });
    writeFileSync(join(folder, '.state', 'token'), secret);
    symlinkSync('.state', join(folder, 'way'));
    service = open({ walk, ours: [join(folder, '.state')] });
    expect(String((await ask({ op: 'list', path: '' })).names).split('/')).not.toContain('.state');
    for (const path of ['.state', '.state/token', '.state/more', 'way/token'])
      for (const op of ['look', 'open', 'list'])
        expect(await ask({ op, path }), `${op} ${path}`).toMatchObject({ errno: 'EACCES', why: expect.stringMatching(/keys or tokens/) });
    expect(await ask({ op: 'target', path: 'way' })).toMatchObject({ errno: 'EACCES' });
  });
});

test.runIf(process.platform === 'linux')('a folder that is swapped for a link while it is read never gives what is outside', async () => {
  let isOn = true;
  const swapping = (async () => {
    for (let turn = 0; isOn; turn++) {
      renameSync(join(folder, 'sub'), join(folder, 'away'));
      symlinkSync(join(base, 'out'), join(folder, 'sub'));
      if (turn % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
      rmSync(join(folder, 'sub'));
      renameSync(join(folder, 'away'), join(folder, 'sub'));
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  const seen = new Map<string, number>();
  for (let round = 0; round < 400; round++)
    for (const text of await Promise.all([readAll('sub/deep.txt'), readAll('sub/deep.txt')])) seen.set(text, (seen.get(text) ?? 0) + 1);
  isOn = false;
  await swapping;
  expect([...seen.keys()].filter((text) => text !== 'deep' && !text.startsWith('refused'))).toEqual([]);
  expect(seen.get('deep')).toBeGreaterThan(0);
});

test('a file that is opened stays that file, whatever takes its name, and grows and shrinks as it does', async () => {
  const { handle } = await ask({ op: 'open', path: 'data.csv' });
  renameSync(join(base, 'secret'), join(folder, 'data.csv.new'));
  renameSync(join(folder, 'data.csv'), join(folder, 'old.csv'));
  renameSync(join(folder, 'data.csv.new'), join(folder, 'data.csv'));
  const read = async (at: number) => Buffer.from((await ask({ op: 'read', handle, at, length: 100 })).data ?? []).toString();
  expect(await read(0)).toBe('a,b\n1,2\n');
  appendFileSync(join(folder, 'old.csv'), '3,4\n');
  expect(await read(8)).toBe('3,4\n');
  writeFileSync(join(folder, 'old.csv'), '');
  expect(await read(0)).toBe('');
  expect(await ask({ op: 'stat', handle })).toMatchObject({ size: 0 });
});

test.runIf(process.platform === 'linux')('requests that come at once hold the descriptors of one', async () => {
  const before = descriptors();
  const deep = Array.from({ length: 200 }, () => 'a').join('/');
  mkdirSync(join(folder, deep), { recursive: true });
  let isDone = false;
  const all = Promise.all(Array.from({ length: 50 }, () => ask({ op: 'look', path: `${deep}/b` }))).finally(() => {
    isDone = true;
  });
  let most = 0;
  while (!isDone) {
    most = Math.max(most, descriptors() - before);
    await new Promise((next) => setImmediate(next));
  }
  expect((await all).every(({ errno }) => errno === 'ENOENT')).toBe(true);
  expect(most).toBeLessThan(400);
});

test.runIf(process.platform === 'linux')('forged requests get an error each, and no more files are open than allowed', async () => {
  const before = descriptors();
  service = open({ maxOpenFiles: 4 });
  const forged = [
    '',
    'null',
    '[]',
    '{',
    '{"op":"unlink","path":"data.csv"}',
    '{"op":"read","handle":-1,"at":0,"length":1}',
    '{"op":"read","handle":1,"at":1e400,"length":1}',
    '{"op":"open","path":{"toString":1}}',
    '{"op":"open"}',
    '{"op":"__proto__"}',
  ];
  for (const text of forged) expect(JSON.parse((await service.call({ text })).text), text).toHaveProperty('errno');
  const all = await Promise.all(Array.from({ length: 20 }, () => ask({ op: 'open', path: 'data.csv' })));
  expect(all.filter(({ errno }) => errno === 'EMFILE')).toHaveLength(16);
  const { data } = await ask({ op: 'read', handle: all.find(({ handle }) => handle !== undefined)?.handle, at: 0, length: 2 ** 40 });
  expect(data?.byteLength).toBe(8);
  await service.close();
  expect(JSON.parse((await service.call({ text: '{"op":"read","handle":1,"at":0,"length":1}' })).text)).toMatchObject({ errno: 'EBADF' });
  expect(descriptors()).toBeLessThanOrEqual(before + 1);
});

test.runIf(process.platform === 'linux')('names that are no text are left out, and a folder of too many is not listed', async () => {
  const many = join(folder, 'many');
  mkdirSync(many);
  for (let n = 0; n < 50; n++) writeFileSync(join(many, `n${n}`), '');
  writeFileSync(Buffer.concat([Buffer.from(`${many}/bad`), Buffer.from([0xff])]), '');
  expect(String((await ask({ op: 'list', path: 'many' })).names).split('/')).toHaveLength(50);
  service = open({ maxEntries: 49 });
  expect(await ask({ op: 'list', path: 'many' })).toMatchObject({ errno: 'EOVERFLOW', why: expect.stringMatching(/more than 49/) });
});

test('a file with a second name is read, as in the sandbox: the folder is the user’s own', async () => {
  linkSync(join(folder, 'data.csv'), join(folder, 'twin.csv'));
  expect(await readAll('twin.csv')).toBe('a,b\n1,2\n');
});

test('a folder that is gone has nothing', async () => {
  service = open({ folder: join(base, 'none') });
  expect(await ask({ op: 'look', path: '' })).toMatchObject({ errno: 'ENOENT' });
  expect(await ask({ op: 'list', path: '' })).toMatchObject({ errno: 'ENOENT' });
});
