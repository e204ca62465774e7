/** What Linux says of a program in a sandbox, held against what it was to be given. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSandboxExec } from '@notebridge/sandbox/sandbox-exec';
import type { SandboxSpec } from '@notebridge/sandbox/spec';
import { recordWritten } from '@notebridge/sandbox/written-folders';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sandboxOfLinux, whyNoSandbox } from './support/sandboxed.js';

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-facts-')));
  for (const name of ['kept', 'hidden']) mkdirSync(join(folder, name));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const specOf = (access: 'ro' | 'rw', more: Partial<SandboxSpec> = {}): SandboxSpec => ({
  command: ['/bin/sh', '-c', 'echo in; read -r _'],
  readable: [],
  folder,
  programs: true,
  mounts: [{ path: folder, access }],
  ...more,
});

/** The faults that are found in what was given, if it was to be what `wanted` says. */
async function faultsOf(given: SandboxSpec, wanted: SandboxSpec): Promise<string[]> {
  const sandbox = sandboxOfLinux();
  const launched = sandbox.launch(given);
  const closed = new Promise((resolve) => launched.child.once('close', resolve));
  await new Promise((resolve) => launched.child.stdout.once('data', resolve));
  const faults = await sandbox.findFaults(launched, wanted);
  launched.child.stdin.end();
  launched.child.stderr.resume();
  await closed;
  await launched.gone;
  return faults;
}

describe.skipIf((await whyNoSandbox()) !== undefined)('a sandbox is seen through', () => {
  test('that lets a folder be written to which was given to read, and not one that is as it was asked for', async () => {
    expect(await faultsOf(specOf('ro'), specOf('ro'))).toEqual([]);
    expect(await faultsOf(specOf('rw'), specOf('rw'))).toEqual([]);
    expect(await faultsOf(specOf('rw'), specOf('ro'))).toEqual([`it may write to "${folder}"`]);
  });

  test('that shows what was to be hidden, and one that does not keep what was to be kept', async () => {
    const [hidden, kept] = [[join(folder, 'hidden')], [join(folder, 'kept')]];
    expect(await faultsOf(specOf('rw', { hidden, kept }), specOf('rw', { hidden, kept }))).toEqual([]);
    expect(await faultsOf(specOf('rw', { kept }), specOf('rw', { hidden, kept }))).toEqual([`it sees "${hidden[0]}"`]);
    expect(await faultsOf(specOf('rw', { hidden }), specOf('rw', { hidden, kept }))).toEqual([`it may write to "${kept[0]}"`]);
  });

  test('and not one that only reads what another may write to, whether it has the whole folder or a part of it', async () => {
    const kept = [join(folder, 'kept')];
    await recordWritten(folder);
    for (const spec of [specOf('ro', { kept }), specOf('ro', { kept, mounts: [] })]) expect(await faultsOf(spec, spec)).toEqual([]);
  });
});

test('the sandbox of macOS runs no kernel that starts programs: nothing bounds those there', () => {
  expect(() => createSandboxExec().launch(specOf('ro'))).toThrow('no sandbox yet on macOS');
});
