import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { isSamePython } from './same-python.js';

it('takes every spelling of one Python for the same, and no other', { tags: ['P-266'] }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'notebridge-python-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const system = join(folder, 'usr', 'python3.11');
  await mkdir(join(folder, 'usr'));
  await writeFile(system, '');
  await symlink(system, join(folder, 'usr', 'python3'));
  for (const name of ['a', 'b']) {
    await mkdir(join(folder, name, 'bin'), { recursive: true });
    await writeFile(join(folder, name, 'pyvenv.cfg'), '');
    for (const program of ['python', 'python3']) await symlink(system, join(folder, name, 'bin', program));
  }
  await symlink(join(folder, 'a'), join(folder, 'link'));
  const [a = '', ...same] = ['a', 'a/bin/python', 'a/bin/python3', 'link/bin/python', 'link'].map((path) => join(folder, path));
  for (const path of same) expect([path, isSamePython(a, path)]).toEqual([path, true]);
  expect(isSamePython(system, join(folder, 'usr', 'python3'))).toBe(true);
  // Their programs are links to one file.
  expect(isSamePython(a, join(folder, 'b/bin/python'))).toBe(false);
  expect(isSamePython(join(folder, 'a/bin/python'), system)).toBe(false);
  expect(isSamePython('/nowhere/python', system)).toBe(false);
});
