// @module-tag P-121
// @module-tag P-190

/**
 * Python in Node against the machine it runs on: first as Python, with all layers; then as if it had got hold of JavaScript in its
 * thread, without the sandbox of the operating system, whose own tests are in ../sandbox.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createNodeKernel } from '../../src/kernel/node-kernel.js';
import { until } from '../host/support/until.js';
import { type BuiltKernel, buildKernel } from './support/built-kernel.js';
import type { KernelHarness } from './support/kernel-harness.js';
import { openNodeHarness } from './support/node-harness.js';
import { runCell } from './support/run-cell.js';

const secretName = 'NOTEBRIDGE_TEST_SECRET';
let folder: string;
let secretFile: string;
let host: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-isolation-')));
  secretFile = join(folder, 'secret.json');
  writeFileSync(secretFile, '"the secret"');
  process.env[secretName] = 'the secret';
  host = await serve();
});
afterAll(async () => {
  delete process.env[secretName];
  await host.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('Python', () => {
  let harness: KernelHarness;
  beforeAll(async () => {
    harness = await openNodeHarness({ fetchOrigins: [host.allowed] });
    await harness.kernel.start();
  });
  afterAll(() => harness?.close());

  test.each([
    ['reads no file of the host', () => `open(${JSON.stringify(secretFile)}).read()`, /No such file/],
    ['lists no folder of the host', () => `import os; os.listdir(${JSON.stringify(folder)})`, /No such file/],
    ['knows nothing of the environment', () => `import os; os.environ["${secretName}"]`, /NOTEBRIDGE_TEST_SECRET/],
    ['has no shell', () => `import os; os.system("touch ${folder}/touched")`, /no shell/],
    ['starts no process', () => 'import subprocess; subprocess.run(["id"])', /does not support processes/],
    ['forks no process', () => 'import os; os.fork()', /./],
    ['opens no socket', () => `import socket; socket.create_connection(("127.0.0.1", ${host.port}))`, /unreachable/],
    ['opens no URL', () => `import urllib.request; urllib.request.urlopen("${host.allowed}")`, /unreachable/],
    ['fetches from no other server', () => `from pyodide.http import pyfetch; await pyfetch("${host.refused}")`, /may only reach http/],
    ['is not sent on to another server', () => `from pyodide.http import pyfetch; await pyfetch("${host.allowed}/away")`, /fetch failed/],
    ['has no process object', () => 'import js; js.process', /process/],
    ['has no global object', () => 'import js; js.globalThis', /globalThis/],
    ['has no eval', () => 'from pyodide.code import run_js; run_js("1")', /cannot import name 'eval'/],
    ['makes no function of text', () => 'import js; js.Object.constructor("return process")()', /Function/],
    ['has none of Pyodide, nor its file systems', () => 'import pyodide_js; pyodide_js.FS', /FS/],
  ])('code in Python %s', async (_name, source, message) => {
    const { error, status } = await runCell(harness, source());
    expect(status).toBe('error');
    expect(error?.evalue).toMatch(message);
  });

  test('fetches from the servers it was given', async () => {
    const { result, error } = await runCell(
      harness,
      `from pyodide.http import pyfetch\nawait (await pyfetch("${host.allowed}/here")).text()`,
    );
    expect(error?.evalue).toBeUndefined();
    expect(result).toBe("'you asked for /here'");
    expect(host.asked).toEqual(['/away', '/here']);
  });

  test('finds no shell by way of C either', async () => {
    const { result } = await runCell(harness, `import ctypes; ctypes.pythonapi.system(b"touch ${folder}/touched")`);
    expect(Number(result)).toBeLessThan(0);
    expect(existsSync(join(folder, 'touched'))).toBe(false);
  });
});

describe('JavaScript in the thread of Python', () => {
  let built: BuiltKernel;
  beforeAll(async () => {
    built = await buildKernel();
  });
  afterAll(() => built?.dispose());

  /** A kernel whose Pyodide is the given code; it throws what it found out. */
  function kernelOf(body: string) {
    const pyodide = join(folder, `pyodide-${Math.random()}`) + sep;
    mkdirSync(pyodide);
    writeFileSync(join(pyodide, 'package.json'), '{ "version": "0" }');
    writeFileSync(join(pyodide, 'pyodide.mjs'), `export async function loadPyodide() { ${body} }`);
    return { ...built.files, indexUrl: pathToFileURL(pyodide) };
  }

  async function tryOut(attempts: { [name: string]: string }): Promise<{ [name: string]: string }> {
    const lines = Object.entries(attempts).map(
      ([name, code]) =>
        `try { found.${name} = 'did: ' + await (async () => { ${code} })(); } catch (error) { found.${name} = error.code ?? error.message; }`,
    );
    const files = kernelOf(`const found = {}; ${lines.join('\n')}; throw new Error('found' + JSON.stringify(found) + 'found');`);
    const kernel = createNodeKernel({ files, sandbox: 'off' });
    const message = await kernel.start().then(String, (error: Error) => error.message);
    await kernel.close();
    return JSON.parse(message.split('found')[1] ?? '{}');
  }

  test('reads, writes, starts and asks for nothing', async () => {
    const secret = JSON.stringify(secretFile);
    const denied = await tryOut({
      read: `return (await import('node:fs')).readFileSync(${secret}, 'utf8')`,
      readSelf: `return (await import('node:fs')).readFileSync('/proc/self/environ', 'utf8')`,
      importIt: `return (await import(${secret}, { with: { type: 'json' } })).default`,
      require: `return (await import('node:module')).createRequire(${secret})(${secret})`,
      list: `return (await import('node:fs')).readdirSync(${JSON.stringify(folder)})`,
      write: `return (await import('node:fs')).writeFileSync(${JSON.stringify(join(folder, 'written'))}, '')`,
      writeOwn: `return (await import('node:fs')).writeFileSync(new URL('pyodide.mjs', import.meta.url), '')`,
      start: `return (await import('node:child_process')).execFileSync('id')`,
      fork: `return (await import('node:child_process')).fork('x.js')`,
      thread: `return new (await import('node:worker_threads')).Worker('1', { eval: true, execArgv: [] })`,
      inspect: `return (await import('node:inspector')).open(0)`,
      addon: `return (await import('node:process')).dlopen({ exports: {} }, '/tmp/x.node')`,
    });
    for (const [name, outcome] of Object.entries(denied)) expect(outcome, name).toMatch(/^ERR_(ACCESS_DENIED|DLOPEN_DISABLED)$/);
  });

  test('has an empty environment, makes no code of text, and connects to nothing', async () => {
    const found = await tryOut({
      environment: `const { default: process } = await import('node:process');
        return JSON.stringify([process.env, process.report.getReport().environmentVariables])`,
      code: `return new Function('return 1')()`,
      connect: `return (await import('node:net')).connect(${host.port}, '127.0.0.1').remotePort`,
      socketFile: `return (await import('node:net')).connect('/var/run/docker.sock').remotePort`,
      fetch: `return fetch('${host.allowed}').then((response) => response.status)`,
    });
    expect(found).toMatchObject({ environment: 'did: [{},{}]', code: expect.stringMatching(/Code generation from strings disallowed/) });
    for (const name of ['connect', 'socketFile', 'fetch']) expect(found[name], name).not.toMatch(/^did/);
  });

  test('JavaScript that never ends is ended when the kernel does not start in time', async () => {
    const kernel = createNodeKernel({ files: kernelOf('for (;;);'), startTimeoutMs: 500 });
    await expect(kernel.start()).rejects.toMatchObject({
      code: 'kernel_start_failed',
      message: expect.stringMatching(/not ready after 0.5 s/),
    });
    expect(kernel.state).toBe('dead');
    await kernel.close();
  });

  test('JavaScript that writes over the wire ends the kernel and nothing else', async () => {
    const kernel = createNodeKernel({
      files: kernelOf("(await import('node:fs')).writeSync(1, 'nonsense\\n'); await new Promise(() => {});"),
    });
    await expect(kernel.start()).rejects.toMatchObject({ message: expect.stringMatching(/not a report/) });
    await kernel.close();
  });

  test('JavaScript that never ends dies with the process that started it', async () => {
    const files = Object.entries(kernelOf('for (;;);')).map(([name, url]) => `${name}: new URL('${url}')`);
    const code = `
      import { createNodeKernel } from '${new URL('node-kernel.js', built.folder)}';
      const kernel = createNodeKernel({ files: { ${files.join(', ')} } });
      kernel.start().catch(() => {});
      console.log('started');`;
    const starter = spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => starter.stdout.once('data', resolve));
    await until(async () => (await processesIn(folder)).length > 0);
    starter.kill('SIGKILL');
    await until(async () => (await processesIn(folder)).length === 0);
  });
});

/** The kernels' processes, and what they are in: each has a folder of its Pyodide on its command line. */
async function processesIn(path: string): Promise<string[]> {
  const ps = spawn('ps', ['-A', '-o', 'args='], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const chunk of ps.stdout) text += chunk;
  return text.split('\n').filter((line) => line.includes(path) && line.includes('--allow-worker'));
}

/** A server by two names: the kernel is given one. */
async function serve() {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (request.url === '/away') response.writeHead(302, { location: `http://localhost:${port}/` }).end();
    else response.end(`you asked for ${request.url}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    asked,
    allowed: `http://127.0.0.1:${port}`,
    refused: `http://localhost:${port}`,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
