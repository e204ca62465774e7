// @module-tag P-705

/** What was looked at before a start is another thing when its mounts are made: other code may write to the folder at that time. */
import { existsSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toKernelSpec } from '@notebridge/sandbox/kernel-spec';
import type { SandboxedProcess, SandboxSpec } from '@notebridge/sandbox/spec';
import { recordWritten } from '@notebridge/sandbox/written-folders';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runInside, whyNoSandbox } from './support/sandboxed.js';

const python = ['/usr/bin/python3'].find((path) => existsSync(path)) ?? '';
const missing = (await whyNoSandbox()) ?? (python === '' ? 'there is no /usr/bin/python3' : undefined);

let top: string;
let secret: string;
let folder: string;
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-swapped-')));
  secret = join(top, 'secret');
  folder = join(top, 'project/part');
  mkdirSync(secret);
  writeFileSync(join(secret, 'key'), 'KEY');
  mkdirSync(folder, { recursive: true });
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

function swapForLink(path: string, target: string): void {
  renameSync(path, `${path}-before`);
  symlinkSync(target, path);
}

const notThere = (path: string) => `its sandbox is not in force: "${path}" is not what its folder has there`;

/** What a program says that looks for the key the moment it begins, and why it was ended. */
async function look(spec: SandboxSpec): Promise<{ stdout: string; why: string | undefined }> {
  let launched: SandboxedProcess | undefined;
  const { stdout } = await runInside(spec, { onLaunch: (it) => (launched = it) });
  return { stdout, why: launched?.breach?.() };
}

const lookFor = (path: string) => ['-c', `import os; print("began", os.path.exists(${JSON.stringify(path)}))`];

describe.skipIf(missing !== undefined)('no code begins where, when its mounts were made, a link stood in the place of', () => {
  test.each(['ro', 'rw'] as const)('the folder that it gets ("%s"), also while it still stands there', async (files) => {
    const spec = await toKernelSpec({ python, args: lookFor(join(folder, 'key')), folder, files });
    expect(await look(spec)).toEqual({ stdout: 'began False\n', why: undefined });
    swapForLink(folder, secret);
    expect(await look(spec)).toEqual({ stdout: '', why: notThere(folder) });
  });

  test('a folder above that one', async () => {
    mkdirSync(join(secret, 'part'));
    const spec = await toKernelSpec({ python, args: lookFor(folder), folder, files: 'rw' });
    swapForLink(join(top, 'project'), secret);
    expect(await look(spec)).toEqual({ stdout: '', why: notThere(folder) });
  });

  test('something in a folder that other code writes to', async () => {
    const environment = join(folder, '.venv');
    mkdirSync(environment);
    await recordWritten(folder);
    const spec = await toKernelSpec({ python, args: lookFor(join(environment, 'key')), folder, readable: [environment] });
    swapForLink(environment, secret);
    expect(await look(spec)).toEqual({ stdout: '', why: notThere(environment) });
  });

  test('what is kept from it, so that something else is', async () => {
    const git = join(folder, '.git');
    for (const path of [git, join(folder, 'other')]) mkdirSync(path);
    const spec = await toKernelSpec({ python, args: lookFor(folder), folder, files: 'rw' });
    swapForLink(git, 'other');
    expect(await look(spec)).toEqual({ stdout: '', why: `its sandbox is not in force: it may write to "${git}"` });
  });
});

test.skipIf(python === '')(
  'a link in the place of what is kept from code is refused and named, wherever it leads; "ro" is not',
  async () => {
    for (const [name, target] of [
      ['.git', secret],
      ['.envrc', join(top, 'not-there')],
    ] as const) {
      const link = join(folder, name);
      symlinkSync(target, link);
      await expect(toKernelSpec({ python, args: [], folder, files: 'rw' })).rejects.toThrow(
        `"${link}" is a link now, and a link cannot be kept from code. Put a folder or file in its place, or use "--files ro"`,
      );
      rmSync(link);
    }
    symlinkSync(secret, join(folder, '.git'));
    await toKernelSpec({ python, args: [], folder, files: 'ro' });
  },
);
