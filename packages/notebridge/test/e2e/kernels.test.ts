// @module-tag deep

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pythonWith, runPython } from '../../../../scripts/python-env.mjs';
import { SharedHome } from '../support/broker.js';
import { Program, runProgram } from '../support/program.js';
import { WindowSocket } from '../support/window-socket.js';
import { windowUrlIn } from '../support/window-url.js';

/** A kernel starts in seconds where many run. */
const timeout = 240_000;
let python = '';
let project = '';
let home = '';
let env: Record<string, string> = {};

beforeAll(async () => {
  const packages = ['ipykernel', 'jupyter_client', 'numpy', 'pandas', 'matplotlib', 'scikit-learn', 'ipywidgets'];
  python = await pythonWith(packages);
}, 600_000);
beforeEach(() => {
  project = realpathSync.native(mkdtempSync(join(tmpdir(), 'notebridge-kernels-')));
  home = realpathSync.native(mkdtempSync(join(tmpdir(), 'notebridge-home-')));
  mkdirSync(join(home, 'bin'));
  // No Python but those that a test puts there, and Node.
  env = { HOME: home, XDG_STATE_HOME: join(home, 'state'), PATH: `${join(home, 'bin')}:${dirname(process.execPath)}` };
});
afterEach(() => {
  rmSync(project, { recursive: true, force: true });
  rmSync(home, { recursive: true, force: true });
});

const stateFile = () => join(home, 'state', 'notebridge', 'trusted-folders.json');
const jsonOf = (answer: JsonObject): JsonObject => {
  const { content } = answer.result as { content: { text: string }[] };
  return JSON.parse(content[0]?.text ?? '{}') as JsonObject;
};
const run = async (program: Program, code: string): Promise<string> => {
  const { outputs } = jsonOf(await program.callTool('run_code', { code })) as unknown as {
    outputs: { text?: string[]; data?: JsonObject }[];
  };
  return outputs
    .map(({ text, data }) => (text ?? (data?.['text/plain'] as string[] | undefined) ?? []).join(''))
    .join('')
    .trim();
};
const openWindow = async (program: Program): Promise<WindowSocket> =>
  WindowSocket.open(windowUrlIn(JSON.stringify(await program.callTool('open_notebook_window')).replaceAll('\\"', '"')));

function writeProgram(path: string, script: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

/** A real environment with the real ipykernel of the one that the tests share. */
async function makeVenv(folder: string): Promise<string> {
  await runPython(python, ['-m', 'venv', '--without-pip', folder]);
  const packagesOf = (root: string): string => {
    const [library = ''] = readdirSync(join(root, 'lib')).filter((name) => name.startsWith('python3'));
    return join(root, 'lib', library, 'site-packages');
  };
  const [from, to] = [packagesOf(dirname(dirname(python))), packagesOf(folder)];
  for (const name of readdirSync(from)) if (!existsSync(join(to, name))) symlinkSync(join(from, name), join(to, name));
  return join(folder, 'bin', 'python');
}

describe('notebridge kernels', { timeout }, () => {
  it('lists what is there in 80 columns, and why the rest is not usable', { tags: ['P-213'] }, async () => {
    writeProgram(join(home, 'bin', 'python3'), `exec '${python}' "$@"`);
    const broken = join(project, '.venv');
    mkdirSync(join(broken, 'bin'), { recursive: true });
    writeFileSync(join(broken, 'pyvenv.cfg'), 'home = /opt/python/3.12/bin\nversion = 3.12.1\n');
    const { stdout, ending } = await runProgram(['kernels', project], { env });
    expect(ending).toBe(0);
    expect(stdout).toContain(`--kernel ${join(home, 'bin', 'python3')}`);
    expect(stdout).toContain('--kernel pyodide');
    expect(stdout).toContain('← auto: it is the python3 of this machine');
    expect(stdout).toContain('its Python is not there any more; it was made of the one in');
    // Commands and paths are there to be copied, and are not broken.
    const wide = stdout.split('\n').filter((line) => line.length > 80 && !/^ +(→|--kernel) |\//.test(line));
    expect(wide).toEqual([]);
    const json = JSON.parse((await runProgram(['kernels', '--json', project], { env })).stdout) as {
      kernels: JsonObject[];
      auto: JsonObject;
    };
    expect(json.auto).toMatchObject({ id: join(home, 'bin', 'python3'), proposal: null });
    // The machine may have kernelspecs of its own.
    const own = json.kernels.filter(({ source }) => source !== 'kernelspec');
    expect(own.map(({ usable }) => usable)).toEqual([true, true, false]);
  });

  it('refuses a notebook that is not there, or is none, with the next step', async () => {
    const gone = await runProgram(['kernels', join(project, 'gone')], { env });
    expect([gone.ending, gone.stderr]).toEqual([2, expect.stringContaining('There is no notebook or folder')]);
    writeFileSync(join(project, 'x.ipynb'), '{');
    const broken = await runProgram(['kernels', join(project, 'x.ipynb')], { env });
    expect([broken.ending, broken.stderr]).toEqual([2, expect.stringContaining('cannot be read')]);
  });
});

describe('--kernel', { timeout }, () => {
  it('runs the code in that Python, in the notebook’s folder, and says so to the agent', async () => {
    const file = join(project, 'a.ipynb');
    await using program = new Program({ args: ['--standalone', '--notebook', file, '--kernel', python], env });
    const { instructions } = (await program.initialize()).result as { instructions: string };
    expect(instructions).toContain('(venv-science)", of the user.');
    expect(instructions).toContain('get_notebook_info has the one that is there now');
    expect(instructions).not.toContain('WebAssembly');
    expect(await run(program, 'import sys, os\nprint(sys.executable, os.getcwd())')).toBe(`${python} ${project}`);
    const { kernel } = jsonOf(await program.callTool('get_notebook_info')) as { kernel: JsonObject };
    expect(kernel).toMatchObject({
      name: 'python3',
      language: 'python',
      version: expect.stringMatching(/^3\./),
      state: 'idle',
      folder: project,
    });
    expect(String(kernel.isolation)).toContain('A program of this machine');
    expect(await program.close()).toBe(0);
    const { metadata } = JSON.parse(readFileSync(file, 'utf8')) as { metadata: JsonObject };
    expect(metadata).toMatchObject({
      kernelspec: { name: 'python3', language: 'python' },
      language_info: { name: 'python', version: kernel.version },
    });
  });

  it('is found from the agent’s folder by the process that holds the notebook, and the next agent is told of it at the handshake', {
    tags: ['P-266'],
  }, async () => {
    await makeVenv(join(project, '.venv'));
    await using home = new SharedHome();
    const args = ['--notebook', join(project, 'a.ipynb'), '--sandbox', 'off'];
    const shared = { ...env, ...home.env };
    await using first = await Program.open({ args: [...args, '--kernel', '.venv'], env: shared, cwd: project });
    expect(await run(first, 'import sys\nprint(sys.prefix)')).toBe(join(project, '.venv'));
    await using second = new Program({ args, env: shared });
    const { instructions } = (await second.initialize()).result as { instructions: string };
    expect(instructions).toContain('(.venv)", of the user. A program of this machine');
    // One that is not open yet is not waited for: it says what it has where it was quick, and else where that is found.
    await using third = new Program({ args: ['--notebook', join(project, 'b.ipynb')], env: shared });
    const opening = (await third.initialize()).result as { instructions: string };
    expect(opening.instructions).toMatch(/says which kernel runs the code|kernel was Python in WebAssembly/);
  });

  it('auto, where only the person can choose a better one, has the agent say so', async () => {
    await makeVenv(join(project, '.venv'));
    await using program = new Program({ args: ['--standalone', '--notebook', join(project, 'a.ipynb'), '--kernel', 'auto'], env });
    const { instructions } = (await program.initialize()).result as { instructions: string };
    expect(instructions).toContain('The person has another one, and can put it in');
    const { kernel } = jsonOf(await program.callTool('get_notebook_info')) as { kernel: JsonObject };
    expect(kernel.asks_the_person).toMatch(/its own Python \(\.venv\)\. Use it\?.*open_notebook_window/);
  });

  it('a folder without a path has its path named', async () => {
    await makeVenv(join(project, 'venv'));
    const { ending, stderr } = await runProgram(['--standalone', '--notebook', join(project, 'a.ipynb'), '--kernel', 'venv'], { env });
    expect([ending, stderr]).toEqual([2, expect.stringContaining(`For the Python of that folder: --kernel ${join(project, 'venv')}.`)]);
  });

  it('a kernel that cannot be used is named by every call of an agent, which goes on and makes no file, until it can be', async () => {
    await using home = new SharedHome();
    const file = join(project, 'a.ipynb');
    await using program = await Program.open({
      args: ['--notebook', file, '--kernel', join(project, '.venv')],
      env: { ...env, ...home.env },
    });
    const refused = { error: { message: expect.stringMatching(/There is nothing at ".*\.venv".*kernels" lists/) } };
    for (const name of ['get_cells', 'get_cells']) expect(await program.callTool(name)).toMatchObject(refused);
    expect(existsSync(file)).toBe(false);
    symlinkSync(dirname(dirname(python)), join(project, '.venv'));
    expect(await run(program, 'import sys; print(sys.platform)')).toBe(process.platform);
  });

  it('an unknown name is refused with the nearest ones and the list; one that lacks something, with the command', {
    tags: ['P-213'],
  }, async () => {
    const unknown = await runProgram(['--standalone', '--notebook', 'local', '--kernel', 'pyodid'], { env });
    expect([unknown.ending, unknown.stderr]).toEqual([
      2,
      expect.stringMatching(/There is no kernel "pyodid"\. Nearest: pyodide\. ".*kernels" lists/),
    ]);
    await runPython(python, ['-m', 'venv', '--without-pip', join(project, 'bare')]);
    const bare = join(project, 'bare', 'bin', 'python');
    const lacks = await runProgram(['--standalone', '--notebook', 'local', '--kernel', bare], { env });
    expect([lacks.ending, lacks.stderr]).toEqual([
      2,
      expect.stringContaining(`it has no ipykernel. To fix it: ${bare} -m ensurepip && ${bare} -m pip install ipykernel`),
    ]);
  });

  it('Pyodide reads the notebook’s folder with --files ro, and without it nothing', { tags: ['P-261'] }, async () => {
    writeFileSync(join(project, 'data.csv'), 'a,b\n1,2\n');
    const args = ['--standalone', '--notebook', join(project, 'a.ipynb')];
    await using given = new Program({ args: [...args, '--files', 'ro'], env });
    const { instructions } = (await given.initialize()).result as { instructions: string };
    expect(instructions).toContain(
      "It begins in /notebook, which is the notebook's folder, to read; it has no other file of this machine.",
    );
    expect(await run(given, 'import glob, os; print(os.getcwd(), sorted(glob.glob("*")), open("data.csv").read().split())')).toBe(
      "/notebook ['a.ipynb', 'data.csv'] ['a,b', '1,2']",
    );
    expect(await run(given, `import os; print(os.path.exists(${JSON.stringify(project)}), os.path.exists("/etc/passwd"))`)).toBe(
      'False False',
    );
    expect(jsonOf(await given.callTool('get_notebook_info'))).toMatchObject({ kernel: { folder: '/notebook' } });
    expect(JSON.stringify(await given.callTool('run_code', { code: 'open("new.txt", "w")' }))).toMatch(
      /read-only for this Python.*--files rw/,
    );
    await given.close();
    await using other = new Program({ args, env });
    expect(JSON.stringify(await other.callTool('run_code', { code: 'open("data.csv")' }))).toMatch(/FileNotFoundError.*--files ro/);
    const fetching = 'import urllib.request; urllib.request.urlopen("https://example.com/")';
    expect(JSON.stringify(await other.callTool('run_code', { code: fetching }))).toMatch(/--allow-net example\.com/);
  });

  it('left out by an agent host is Pyodide, whatever lies about', async () => {
    writeProgram(join(home, 'bin', 'python3'), `exec '${python}' "$@"`);
    await using program = new Program({
      args: ['--standalone', '--notebook', join(project, 'a.ipynb')],
      env: { ...env, VIRTUAL_ENV: dirname(dirname(python)) },
    });
    const { instructions } = (await program.initialize()).result as { instructions: string };
    expect(instructions).toContain('Python in WebAssembly, without network and without the files of this machine.');
    expect(jsonOf(await program.callTool('get_notebook_info'))).toMatchObject({
      kernel: { name: 'pyodide', display_name: 'Python (Pyodide)' },
    });
  });
});

describe('a cloned repository', { timeout }, () => {
  it('starts none of its programs: not by kernels, doctor, auto, or a window; with the person’s yes it does, and is remembered privately', {
    tags: ['P-210', 'P-211'],
  }, async () => {
    const mark = join(project, 'was-run');
    const own = await makeVenv(join(project, '.venv'));
    // The environment is real, and leaves a mark each time its Python is run.
    const target = realpathSync(own);
    rmSync(own);
    writeProgram(own, `touch '${mark}'\nexec -a '${own}' '${target}' "$@"`);
    writeFileSync(own, `#!/bin/bash\ntouch '${mark}'\nexec -a '${own}' '${target}' "$@"\n`);
    const file = join(project, 'a.ipynb');
    await runProgram(['kernels', project], { env });
    await runProgram(['doctor', '--no-kernel', '--port', '0'], { env });
    {
      await using program = await Program.open({ args: ['--notebook', file, '--kernel', 'auto'], env, cwd: project });
      using window = await openWindow(program);
      const { choice } = (await window.first('hello')) as { choice: JsonObject };
      expect(choice).toMatchObject({
        id: 'pyodide',
        proposal: {
          id: own,
          folder: project,
          question: 'This folder has its own Python (.venv). Use it? It will run code of this folder.',
        },
      });
      expect(await window.ask({ do: 'useKernel', id: own })).toMatchObject({ asks: { folder: project } });
      expect(((await window.ask({ do: 'listKernels' })) as { kernels: JsonObject[] }).kernels).toContainEqual(
        expect.objectContaining({ id: own, isCurrent: false }),
      );
      await expect(window.ask({ do: 'trustFolder', yes: true, folder: '/elsewhere' })).rejects.toThrow('bad_request');
      expect(existsSync(mark)).toBe(false);
      expect(existsSync(stateFile())).toBe(false);
      await window.ask({ do: 'trustFolder', yes: true, folder: project });
      expect(existsSync(mark)).toBe(true);
      expect(await run(program, 'import sys\nprint(sys.prefix)')).toBe(join(project, '.venv'));
      expect(statSync(stateFile()).mode & 0o777).toBe(0o600);
      expect(JSON.parse(readFileSync(stateFile(), 'utf8'))).toEqual({ folders: [project], written: [] });
    }
    // From now on it is taken, also by a link to the folder, until the person takes it back.
    symlinkSync(project, join(home, 'link'));
    const auto = async (): Promise<unknown> => {
      const { stdout } = await runProgram(['kernels', '--json', join(home, 'link')], { env });
      return (JSON.parse(stdout) as { auto: JsonObject }).auto.id;
    };
    expect(await auto()).toBe(own);
    expect((await runProgram(['kernels', project, '--distrust'], { env })).stdout).toContain('is not trusted any more');
    expect(await auto()).toBe('pyodide');
  });

  it('is not trusted by a file of trust that others may write to', { tags: ['P-211'] }, async () => {
    await makeVenv(join(project, '.venv'));
    mkdirSync(dirname(stateFile()), { recursive: true, mode: 0o700 });
    writeFileSync(stateFile(), JSON.stringify({ folders: [project] }), { mode: 0o600 });
    const list = () => runProgram(['kernels', '--json', project], { env });
    expect((JSON.parse((await list()).stdout) as { auto: JsonObject }).auto.id).toBe(join(project, '.venv', 'bin', 'python'));
    chmodSync(stateFile(), 0o666);
    const { stdout, stderr, ending } = await list();
    expect([stdout, ending]).toEqual(['', expect.any(Number)]);
    expect(stderr).toContain(stateFile());
  });
});

describe('a window', { timeout }, () => {
  it('switches between Pyodide and an own Python while the notebook is open; what runs ends, and the file names each', {
    tags: ['P-214'],
  }, async () => {
    writeProgram(join(home, 'bin', 'python3'), `exec '${python}' "$@"`);
    const file = join(project, 'a.ipynb');
    await using program = await Program.open({ args: ['--notebook', file], env });
    using window = await openWindow(program);
    const metadata = () =>
      (JSON.parse(readFileSync(file, 'utf8')) as { metadata: { kernelspec: JsonObject; language_info: JsonObject } }).metadata;
    expect(await run(program, 'x = 1\nimport sys\nprint(sys.platform)')).toBe('emscripten');
    await window.ask({ do: 'save' });
    expect(metadata().kernelspec).toEqual({ display_name: 'Python (Pyodide)', language: 'python', name: 'python3' });
    const loop = program.callTool('run_code', { code: 'print("on")\nwhile True: pass' });
    await window.first('session', ({ event }) => (event as JsonObject).type === 'kernel' && (event as JsonObject).state === 'busy');
    await window.ask({ do: 'useKernel', id: join(home, 'bin', 'python3') });
    expect(jsonOf(await loop)).toMatchObject({ status: 'interrupted' });
    expect(await run(program, 'import sys\nprint(sys.platform, "x" in globals())')).toBe('linux False');
    expect(jsonOf(await program.callTool('get_notebook_info'))).toMatchObject({
      kernel: { name: 'python3', display_name: expect.stringContaining('(python3)') },
    });
    await window.ask({ do: 'save' });
    expect(metadata().kernelspec).toMatchObject({ display_name: 'Python 3 (ipykernel)', name: 'python3' });
    expect(metadata().language_info.version).toMatch(/^3\.\d+\.\d+/);
    await expect(window.ask({ do: 'useKernel', id: 'nosuch' })).rejects.toThrow('unknown_kernel: There is no kernel "nosuch"');
    await window.ask({ do: 'useKernel', id: 'pyodide' });
    expect(await run(program, 'import sys\nprint(sys.platform)')).toBe('emscripten');
  });
});
