// @module-tag P-217

/** `--files` and `--allow-net`: what code may reach is kept by a sandbox, or the kernel is refused; an option is never ignored. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { recordWritten } from '@notebridge/sandbox/written-folders';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createNotebookHost, type NotebookHost } from '../../src/host/notebook-host.js';
import type { NotebookHostOptions } from '../../src/host/notebook-host-options.js';
import { openWindow } from '../host/support/window.js';
import { whyNoSandbox } from '../sandbox/support/sandboxed.js';
import { makeVenv, sciencePython, temporaryProject } from './support/projects.js';

const missing = await whyNoSandbox();

let host: NotebookHost | undefined;
afterEach(() => {
  vi.unstubAllEnvs();
  return host?.close();
});

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

const confined: Partial<NotebookHostOptions>[] = [{ files: 'ro' }, { files: 'none' }, { allowNet: ['pypi.org'] }];
describe.each(confined)('with %j', (options) => {
  test('an own Python is refused where the sandbox is switched off', async () => {
    const refused = await open({ ...options, sandbox: 'off' });
    await expect(refused.start()).rejects.toMatchObject({
      code: 'sandbox_unavailable',
      message: expect.stringMatching(/"--(files|allow-net) .*kept by the sandbox.*--sandbox=require/),
    });
  });

  // A kernel of each option takes its seconds: one in the core.
  test.skipIf(missing !== undefined)(
    'one that a person chose is in the sandbox, which it would not be without',
    {
      tags: options.files === 'ro' ? [] : ['deep'],
    },
    async () => {
      const started = await open(options);
      await started.start();
      await started.session.kernel.start();
      expect(started.session.kernel.layers?.[0]).toMatchObject({ name: 'operating system', active: true });
      expect(started.kernelChoice?.isolation).toMatch(/in a sandbox/);
    },
  );
});

test.skipIf(missing !== undefined)(
  'one that may not write says so, and a window may let it',
  { tags: ['P-683', 'P-684'], timeout: 180_000 },
  async () => {
    const folder = temporaryProject();
    const started = await open({ file: join(folder, 'one.ipynb'), sandbox: 'require' });
    await started.start();
    const run = async (code: string) => JSON.stringify((await started.callTool('run_code', { code })).content);
    expect(await run('open("new.txt", "w").write("x")')).toMatch(/Read-only file system.*read-only for it.*--files rw/);
    expect(JSON.stringify(await started.callTool('get_notebook_info', {}))).toMatch(/writes nothing there.*--files rw.*--allow-net HOST/);
    const window = await openWindow(started.url);
    expect(window.hello?.choice?.mayAllow).toEqual({ kind: 'write', what: folder });
    await expect(window.ask({ do: 'allow', what: '/', yes: true })).rejects.toMatchObject({ code: 'bad_request' });
    await window.ask({ do: 'allow', what: folder, yes: true });
    expect(await run('open("new.txt", "w").write("x")')).toContain('"status\\":\\"ok');
    expect(existsSync(join(folder, 'new.txt'))).toBe(true);
    expect(started.kernelChoice).toMatchObject({ mayAllow: null, isolation: expect.stringContaining('reads and writes') });
    expect(started.reach).toMatchObject({ files: 'rw' });
  },
);

test('a Python that a person chose is in no sandbox without these options, as in Jupyter, and says so', async () => {
  const started = await open({});
  await started.start();
  expect(started.kernelChoice?.isolation).toMatch(/runs as its user/);
});

test.skipIf(missing !== undefined)(
  'one that begins in a folder that code was given to write to is in the sandbox, with the modules that it takes from there',
  { tags: ['P-682'], timeout: 120_000 },
  async () => {
    const outside = temporaryProject();
    const folder = temporaryProject();
    const mark = join(outside, 'was-run');
    // Imported by ipykernel itself, after its start.
    writeFileSync(
      join(folder, 'psutil.py'),
      `import os\nos.makedirs(${JSON.stringify(outside)}, exist_ok=True)\nopen(${JSON.stringify(mark)}, "w")\n`,
    );
    await recordWritten(folder);
    const started = await open({ file: join(folder, 'one.ipynb') });
    await started.start();
    expect(started.kernelChoice?.notice).toMatch(/may write to.*runs in a sandbox.*grants files --withdraw/);
    const { content } = await started.callTool('run_code', { code: 'import psutil\npsutil.__file__' });
    expect(JSON.stringify(content)).toContain(join(folder, 'psutil.py'));
    expect(started.session.kernel.layers?.[0]).toMatchObject({ name: 'operating system', active: true });
    expect(existsSync(mark)).toBe(false);
  },
);

test.each([
  { sandbox: undefined, isolation: /in a sandbox/, notice: /runs in a sandbox.*grants files --withdraw/ },
  { sandbox: 'off' as const, isolation: /runs as its user/, notice: /switched off all the same.*grants files --withdraw/ },
])(
  'one in a folder that code was given to write to, with the sandbox $sandbox, is in it unless that was switched off, and says so',
  { tags: ['P-623'], timeout: 60_000 },
  async ({ sandbox, isolation, notice }) => {
    const project = temporaryProject();
    const wanted = await makeVenv(join(project, '.venv'), { ipykernel: true });
    await recordWritten(project);
    const started = await open({ sandbox }, wanted);
    await started.start();
    expect(started.kernelChoice?.isolation).toMatch(isolation);
    expect(started.kernelChoice?.notice).toMatch(notice);
  },
);

test.each([
  { sandbox: undefined, isolation: /sandbox/, notice: /runs in a sandbox alone/ },
  { sandbox: 'off' as const, isolation: /runs as its user/, notice: /switched off all the same/ },
])(
  'a kernelspec that runs code of such a folder, with the sandbox $sandbox, is never run without unless that was switched off',
  { tags: ['P-623'], timeout: 60_000 },
  async ({ sandbox, isolation, notice }) => {
    const project = temporaryProject();
    writeFileSync(join(project, 'kernel.py'), '');
    await recordWritten(project);
    const data = temporaryProject();
    mkdirSync(join(data, 'kernels/written'), { recursive: true });
    const spec = { argv: ['/usr/bin/env', 'python3', join(project, 'kernel.py')], display_name: 'Written', language: 'python' };
    writeFileSync(join(data, 'kernels/written/kernel.json'), JSON.stringify(spec));
    vi.stubEnv('JUPYTER_PATH', data);
    vi.stubEnv('PATH', `${dirname(await sciencePython())}:${process.env.PATH}`);
    const opened = open({ sandbox }, 'written');
    if (missing !== undefined && sandbox === undefined)
      return expect(opened.then((each) => each.start())).rejects.toMatchObject({ code: 'sandbox_unavailable' });
    const started = await opened;
    await started.start();
    expect(started.kernelChoice?.isolation).toMatch(isolation);
    expect(started.kernelChoice?.notice).toMatch(notice);
  },
);

describe('Pyodide', () => {
  test.each([
    { by: 'a person', isAttended: true, files: undefined, expected: 'ro' },
    { by: 'an agent alone', isAttended: false, files: undefined, expected: 'none' },
    { by: 'an agent alone', isAttended: false, files: 'ro', expected: 'ro' },
    { by: 'a person', isAttended: true, files: 'none', expected: 'none' },
  ] as const)(
    'opened by $by with --files $files has the folder as $expected, and says so',
    { tags: ['P-261'], timeout: 60_000 },
    async ({ isAttended, files, expected }) => {
      const started = await open({ files, kernels: { wanted: 'pyodide', isAttended } });
      await started.start();
      const isolation = started.kernelChoice?.isolation;
      expect(isolation).toMatch(expected === 'ro' ? /begins in \/notebook.*to read/ : /without the files of this machine/);
      const info = await started.callTool('get_notebook_info', {});
      expect(JSON.stringify(info)).toContain(isolation);
    },
  );

  test('a Pyodide that a person chooses in a window, or opens there, has the folder too', async () => {
    const started = await open({ isByPerson: true, kernels: { wanted: 'pyodide' } });
    await started.start();
    expect(started.kernelChoice?.isolation).toMatch(/begins in \/notebook/);
  }, 60_000);

  test('a notebook in memory has no folder, unless it is asked for', async () => {
    const started = await open({ file: undefined, kernels: { wanted: 'pyodide', isAttended: true } });
    await started.start();
    expect(started.kernelChoice?.isolation).toMatch(/without network and without the files/);
  });

  test('a folder that is not to be given is refused if asked for, and else left out', async () => {
    const options = { ours: [tmpdir()], kernels: { wanted: 'pyodide', isAttended: true } };
    const asked = await open({ ...options, files: 'ro' });
    await expect(asked.start()).rejects.toMatchObject({ code: 'kernel_unusable', message: expect.stringMatching(/keys or tokens/) });
    const started = await open(options);
    await started.start();
    expect(started.kernelChoice?.isolation).toMatch(/without the files/);
  });

  test('a kernel with --allow-net says which servers it reaches', async () => {
    const started = await open({ allowNet: ['pypi.org', '*.example.org'], sandbox: 'off', kernels: { wanted: 'pyodide' } });
    await started.start();
    expect(started.kernelChoice?.isolation).toMatch(/with pypi\.org, \*\.example\.org as the only servers that it reaches/);
  });

  test('refuses --files rw, with what can write', async () => {
    const refused = await open({ files: 'rw' }, 'pyodide');
    await expect(refused.start()).rejects.toMatchObject({
      code: 'kernel_unusable',
      message: expect.stringMatching(/"pyodide".*--files ro.*--kernel auto/),
    });
  });
});

test('a server that is none is refused with what would be right', async () => {
  const refused = await open({ allowNet: ['https://pypi.org/simple'] });
  await expect(refused.start()).rejects.toMatchObject({ code: 'kernel_unusable', message: expect.stringMatching(/names no server/) });
});
