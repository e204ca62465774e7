/** What the kernel of a Python is given in a sandbox, with and without the folder of its notebook. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toKernelSpec } from '@notebridge/sandbox/kernel-spec';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const python = '/usr/bin/python3';
let base: string;
let folder: string;
/** An environment beside the folder, which a link of the folder leads to. */
let environment: string;

describe.skipIf(!existsSync(python))('the kernel of a Python', () => {
  beforeAll(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-kernel-spec-')));
    folder = join(base, 'folder');
    environment = join(base, 'environment');
    mkdirSync(folder);
    execFileSync(python, ['-m', 'venv', '--without-pip', environment]);
    symlinkSync(environment, join(folder, 'linked'));
  });
  afterAll(() => rmSync(base, { recursive: true, force: true }));

  test.each(['none', 'ro', 'rw'] as const)('reads its own modules and environment, with files "%s"', async (files) => {
    const given = join(base, 'given');
    mkdirSync(given, { recursive: true });
    const spec = await toKernelSpec({ python: join(environment, 'bin/python'), args: [], folder: given, files });
    expect(spec.readable).toContain(environment);
    expect(spec.readable.some((path) => /^\/usr(\/lib.*)?$/.test(path))).toBe(true);
    expect(spec.mounts).toEqual(files === 'none' ? [] : [{ path: given, access: files }]);
  });

  test('is not given the link of a folder by itself, which the folder has already, and never where code could replace it', async () => {
    const options = { python: join(folder, 'linked/bin/python'), args: [], folder };
    const { readable } = await toKernelSpec({ ...options, files: 'ro' });
    expect(readable).toContain(environment);
    expect(readable).not.toContain(join(folder, 'linked'));
    expect((await toKernelSpec({ ...options, files: 'none' })).readable).toContain(join(folder, 'linked'));
    await expect(toKernelSpec({ ...options, files: 'rw' })).rejects.toThrow(
      `the link "${join(folder, 'linked')}", which leads out of that folder`,
    );
  });
});
