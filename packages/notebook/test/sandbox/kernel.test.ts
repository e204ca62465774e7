// @module-tag P-189

/** The built-in Python in the sandbox: it works as ever, says what it is in, and never quietly does without. */
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { findProgram } from '@notebridge/sandbox/find-program';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { KernelFiles, NodeKernelOptions } from '../../src/kernel/node-kernel.js';
import type { PyodideKernel } from '../../src/kernel/pyodide-kernel.js';
import { until } from '../host/support/until.js';
import { type BuiltKernel, buildKernel } from '../kernel/support/built-kernel.js';
import { whyNoSandbox } from './support/sandboxed.js';

// What has worked in this process is remembered: by these modules nothing has.
vi.resetModules();
const { createNodeKernel } = await import('../../src/kernel/node-kernel.js');
const bubblewrap = findProgram('bwrap');
const path = process.env.PATH;
let folder: string;
let built: BuiltKernel;
const kernels: PyodideKernel[] = [];

beforeAll(async () => {
  // A folder as people have them.
  folder = join(realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-kernel-'))), 'Ann’s home (ü)');
  mkdirSync(folder);
  built = await buildKernel();
});
afterAll(async () => {
  process.env.PATH = path;
  // Nor do later files of this process start what was found on the PATH of these.
  vi.resetModules();
  await Promise.all(kernels.map((kernel) => kernel.close()));
  built?.dispose();
  rmSync(join(folder, '..'), { recursive: true, force: true });
});

function open(options: NodeKernelOptions): PyodideKernel {
  const kernel = createNodeKernel({ files: built.files, ...options });
  kernels.push(kernel);
  return kernel;
}

async function run(kernel: PyodideKernel, source: string): Promise<unknown> {
  let value: unknown;
  await kernel.execute(source, {
    onOutput: (output) => {
      if (output.output_type === 'execute_result') value = (output.data as { [type: string]: unknown })['text/plain'];
      if (output.output_type === 'error') value = (output as { evalue: string }).evalue;
    },
  });
  return value;
}

/** Files whose Pyodide is this code: as if it had got out of Python. */
function filesOf(body: string): KernelFiles {
  const pyodide = join(folder, `pyodide ${Math.random()}`) + sep;
  mkdirSync(pyodide);
  writeFileSync(join(pyodide, 'package.json'), '{ "version": "0" }');
  writeFileSync(join(pyodide, 'pyodide.mjs'), `export async function loadPyodide() { ${body} }`);
  return { ...built.files, indexUrl: pathToFileURL(pyodide) };
}

const isPossible = bubblewrap !== undefined && process.platform === 'linux';

describe.skipIf(!isPossible)('Python in the sandbox', () => {
  test('is never without one again, once it was in one', async (context) => {
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    copyFileSync(bubblewrap ?? '', join(bin, 'bwrap'));
    process.env.PATH = bin;
    const kernel = open({ sandbox: 'auto' });
    await kernel.start();
    if (kernel.layers?.[0]?.active !== true) return context.skip(`it does not work here: ${kernel.layers?.[0]?.text}`);
    rmSync(join(bin, 'bwrap'));
    await expect(kernel.restart()).rejects.toMatchObject({ code: 'kernel_start_failed' });
    process.env.PATH = `${bin}${delimiter}${path}`;
    // It is asked for by the path that it had.
    await expect(kernel.restart()).rejects.toMatchObject({ code: 'kernel_start_failed' });
    copyFileSync(bubblewrap ?? '', join(bin, 'bwrap'));
    await kernel.restart();
    expect(await run(kernel, '6 * 7')).toBe('42');
  });

  test('works below a folder with any name, sees that one, and says what it is in', async (context) => {
    const why = await whyNoSandbox();
    if (why !== undefined) return context.skip(why);
    const home = join(folder, 'node_modules');
    cpSync(fileURLToPath(new URL('../../', built.folder)), join(home, 'kernel'), { recursive: true });
    cpSync(fileURLToPath(built.files.indexUrl), join(home, 'pyodide'), { recursive: true });
    copyFileSync(built.files.sesUrl, join(home, 'ses.mjs'));
    const at = (name: string) => pathToFileURL(join(home, name));
    const kernel = open({
      sandbox: 'require',
      files: {
        ...built.files,
        workerUrl: at('kernel/dist/kernel/worker/node-main.js'),
        pythonUrl: at('kernel/dist/kernel/python/'),
        indexUrl: at('pyodide/'),
        sesUrl: at('ses.mjs'),
      },
    });
    await kernel.start();
    expect(await run(kernel, 'sum(range(10))')).toBe('45');
    expect(kernel.layers?.map(({ name }) => name)).toEqual(['operating system', 'runtime', 'neighbours']);
    expect(kernel.layers?.[0]).toMatchObject({ active: true, text: expect.stringMatching(/^bubblewrap: no network, /) });
    expect(await run(kernel, `import os; os.listdir(${JSON.stringify(homedir())})`)).toMatch(/No such file/);
  });

  test('a Python with servers to fetch from shares the network, says so, and is refused where a sandbox is required', async (context) => {
    const why = await whyNoSandbox();
    if (why !== undefined) return context.skip(why);
    const fetchOrigins = ['http://127.0.0.1:9'];
    const kernel = open({ fetchOrigins });
    await kernel.start();
    expect(kernel.layers?.[0]).toMatchObject({ active: true, text: expect.stringMatching(/the network of this machine/) });
    await expect(open({ fetchOrigins, sandbox: 'require' }).start()).rejects.toMatchObject({
      message: expect.stringMatching(/fetchOrigins/),
    });
  });

  test('a Python that is ended from outside says by which signal', async (context) => {
    const why = await whyNoSandbox();
    if (why !== undefined) return context.skip(why);
    const files = filesOf("process.stderr.write('here'); await new Promise(() => {})");
    const failed = open({ files, sandbox: 'require' })
      .start()
      .then(String, (error: Error) => error.message);
    // Node itself, which is on no command line but its own and bubblewrap's.
    const find = () =>
      readdirSync('/proc')
        .filter((name) => Number(name) > 0)
        .filter((pid) => commandOf(pid).startsWith(process.execPath) && commandOf(pid).includes(fileURLToPath(files.indexUrl)));
    await until(() => find().length > 0);
    for (const pid of find()) process.kill(Number(pid), 'SIGKILL');
    expect(await failed).toMatch(/its process ended with SIGKILL/);
  });
});

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

test('Python says that it is in none when it is told to be in none', async () => {
  const kernel = open({ sandbox: 'off' });
  await kernel.start();
  expect(kernel.layers?.[0]).toEqual({ name: 'operating system', active: false, text: 'it was switched off' });
});
