/** `--files` and `--allow-net`: what code may reach is kept by a sandbox, or the kernel is refused; an option is never ignored. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createNotebookHost, type NotebookHost, type NotebookHostOptions } from '../../src/host/notebook-host.js';
import { whyNoSandbox } from '../sandbox/support/sandboxed.js';
import { sciencePython, temporaryProject } from './support/projects.js';

const missing = await whyNoSandbox();

let host: NotebookHost | undefined;
afterEach(() => host?.close());

async function open(options: Partial<NotebookHostOptions>, wanted?: string): Promise<NotebookHost> {
  const folder = temporaryProject();
  writeFileSync(join(folder, 'data.csv'), 'a,b\n');
  host = createNotebookHost({
    file: join(folder, 'one.ipynb'),
    port: 0,
    kernels: { wanted: wanted ?? (await sciencePython()), isAttended: true },
    ...options,
  });
  return host;
}

describe.each([{ files: 'ro' as const }, { files: 'none' as const }, { allowNet: ['pypi.org'] }])('with %j', (options) => {
  test('an own Python is refused where the sandbox is switched off', async () => {
    const refused = await open({ ...options, sandbox: 'off' });
    await expect(refused.start()).rejects.toMatchObject({
      code: 'sandbox_unavailable',
      message: expect.stringMatching(/"--(files|allow-net) .*kept by the sandbox.*--sandbox=require/),
    });
  });

  test.skipIf(missing !== undefined)(
    'one that a person chose is in the sandbox, which it would not be without',
    async () => {
      const started = await open(options);
      await started.start();
      await started.session.kernel.start();
      expect(started.session.kernel.layers?.[0]).toMatchObject({ name: 'operating system', active: true });
      expect(started.kernelChoice?.isolation).toMatch(/in a sandbox/);
    },
    120_000,
  );
});

test('without them a Python that a person chose is in none, as in Jupyter, and says so', async () => {
  const started = await open({});
  await started.start();
  expect(started.kernelChoice?.isolation).toMatch(/runs as its user/);
});

test.each([{ files: 'ro' as const }, { files: 'rw' as const }, { allowNet: ['pypi.org'] }])(
  'Pyodide, which cannot keep %j, is refused with what can',
  async (options) => {
    const refused = await open(options, 'pyodide');
    await expect(refused.start()).rejects.toMatchObject({
      code: 'kernel_unusable',
      message: expect.stringMatching(/"pyodide".*--kernel auto/),
    });
  },
);

test('a server that is none is refused with what would be right', async () => {
  const refused = await open({ allowNet: ['https://pypi.org/simple'] });
  await expect(refused.start()).rejects.toMatchObject({ code: 'kernel_unusable', message: expect.stringMatching(/names no server/) });
});
