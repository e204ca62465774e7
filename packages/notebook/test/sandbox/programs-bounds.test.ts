// @module-tag P-216

/** What a kernel that starts programs may take of the machine, all of them together. */
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { boundKinds } from '@notebridge/sandbox/control-groups';
import { toKernelSpec } from '@notebridge/sandbox/kernel-spec';
import type { SandboxedProcess } from '@notebridge/sandbox/spec';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bring, type Ending, runInside, whyNoSandbox } from './support/sandboxed.js';

const python = ['/usr/bin/python3'].find((path) => existsSync(path));
const missing = (await whyNoSandbox()) ?? (python === undefined ? 'there is no /usr/bin/python3' : undefined);
if (missing !== undefined) console.warn(`Skipped: ${missing}`);

const timeoutMs = 180_000;
const mebibyte = 1024 ** 2;

describe.skipIf(missing !== undefined)('programs in the sandbox', () => {
  let folder: string;
  let program: string;
  beforeAll(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-bounds-')));
    program = bring('bombs.py', folder);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const explode = async (kind: string): Promise<Ending & { breach: string | undefined }> => {
    const spec = await toKernelSpec({ python: python ?? '', args: [program, kind], folder, files: 'ro', maxDataBytes: 512 * mebibyte });
    let sandboxed: SandboxedProcess | undefined;
    const ending = await runInside(
      { ...spec, maxProcesses: 64, maxTemporaryBytes: 8 * mebibyte },
      {
        onLaunch: (launched) => {
          sandboxed = launched;
        },
      },
    );
    return { ...ending, breach: sandboxed?.breach?.() };
  };
  const numbers = ({ stdout }: Ending) => stdout.trim().split('\n').map(Number);

  test.each(['processes', 'forks that leave'])(
    'a bomb of %s is ended, all of it, and it is said why',
    async (kind) => {
      expect((await explode(kind)).breach).toMatch(/it had \d+ processes, of 64 at most/);
    },
    timeoutMs,
  );

  test(
    'threads without end are',
    async () => {
      expect((await explode('threads')).breach).toMatch(/it had \d+ threads, of 512 at most/);
    },
    timeoutMs,
  );

  test(
    'the memory of one ends at its bound, with an error that its code can handle',
    async () => {
      const ending = await explode('memory');
      expect(ending).toMatchObject({ code: 0, stderr: '', breach: undefined });
      expect(numbers(ending).at(-1)).toBeGreaterThan(256);
      expect(numbers(ending).at(-1)).toBeLessThan(513);
    },
    timeoutMs,
  );

  test.each(['memory of many', 'shared memory'])(
    '%s ends at the same bound',
    async (kind) => {
      expect((await explode(kind)).breach).toMatch(/its processes used \d+ MiB of memory, of 512 MiB/);
    },
    timeoutMs,
  );

  test.skipIf(!boundKinds().includes('memory')).each(['memory that nobody has mapped', 'buffers of sockets'])(
    '%s, which no process is seen to have, is bounded too where Linux bounds all together',
    { tags: ['P-241'], timeout: timeoutMs },
    async (kind) => {
      const { breach, stdout } = await explode(kind);
      expect(breach ?? stdout).toMatch(/its processes used \d+ MiB of memory, of 512 MiB/);
    },
  );

  test(
    'three file systems in memory can be filled to their bound, and nothing else',
    async () => {
      const [temporary = 0, home = 0, shared = 0, ...others] = numbers(await explode('disk'));
      for (const written of [temporary, home, shared]) {
        expect(written).toBeGreaterThan(6 * mebibyte);
        expect(written).toBeLessThanOrEqual(8 * mebibyte);
      }
      expect(others).toEqual([0, 0, 0, 0, 0]);
    },
    timeoutMs,
  );

  test(
    'files that are open at once are bounded, and processes that nobody waits for do not pile up',
    async () => {
      const [open = 0] = numbers(await explode('files'));
      expect(open).toBeGreaterThan(200);
      expect(open).toBeLessThan(4096);
      const [left = 0] = numbers(await explode('orphans'));
      expect(left).toBeLessThan(10);
    },
    timeoutMs,
  );
});
