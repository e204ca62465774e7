// @module-tag deep

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createJupyterKernel, type JupyterKernelOptions } from '../../src/kernel/jupyter/jupyter-kernel.js';
import { until } from '../host/support/until.js';
import { openJupyterHarness, sciencePython } from './support/jupyter-harness.js';
import { runCell } from './support/run-cell.js';

/** A Python takes seconds to load, on a machine that does other things too. */
const startMs = 120_000;

describe('a kernel of Jupyter that is not as it should be', { timeout: 2 * startMs }, () => {
  let folder: string;
  let python: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'notebridge-bad-'));
    python = await sciencePython();
  }, 10 * startMs);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const failure = async (options: Partial<JupyterKernelOptions>): Promise<string> => {
    const kernel = createJupyterKernel({ python, folder, ...options });
    const error: Error = await kernel.start().then(
      () => new Error('it started'),
      (reason: Error) => reason,
    );
    expect(kernel.state).toBe('dead');
    await kernel.close();
    return error.message;
  };
  /** A Python with the packages of that of the tests, but for one: what is left out is a module that cannot be imported. */
  const pythonWithout = (...missing: string[]): string => {
    const home = join(folder, `without-${missing.join('-')}`);
    execFileSync(python, ['-m', 'venv', '--without-pip', home]);
    const venvPython = join(home, 'bin', 'python');
    const find = (program: string) =>
      execFileSync(program, ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'], { encoding: 'utf8' }).trim();
    const [from, to] = [find(python), find(venvPython)];
    for (const name of readdirSync(from))
      if (!missing.some((each) => name.startsWith(each)) && !existsSync(join(to, name))) symlinkSync(join(from, name), join(to, name));
    return venvPython;
  };
  const specified = (name: string, spec: object): void => {
    const place = join(folder, 'jupyter', 'kernels', name);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'kernel.json'), JSON.stringify({ display_name: name, language: 'python', ...spec }));
    process.env.JUPYTER_PATH = join(folder, 'jupyter');
  };

  test('a Python without ipykernel, or jupyter_client, is answered with the exact command', { tags: ['P-213'] }, async () => {
    const noKernel = pythonWithout('ipykernel');
    expect(await failure({ python: noKernel })).toContain(`Install it: "${noKernel}" -m pip install ipykernel`);
    const noClient = pythonWithout('jupyter_client', 'ipykernel');
    expect(await failure({ python: noClient })).toContain(`Install it: "${noClient}" -m pip install ipykernel`);
    specified('without', { argv: [noKernel, '-m', 'ipykernel_launcher', '-f', '{connection_file}'] });
    expect(await failure({ kernelName: 'without' })).toContain(`Install it: "${noKernel}" -m pip install ipykernel`);
  });

  test('a Python that is gone, a folder that is gone, and a program that is none', async () => {
    const gone = join(folder, 'gone', 'bin', 'python');
    expect(await failure({ python: gone })).toMatch(/gone.*cannot be run.*Choose another Python, or make its environment anew/);
    mkdirSync(dirname(gone), { recursive: true });
    symlinkSync(join(folder, 'nowhere'), gone);
    expect(await failure({ python: gone })).toMatch(/cannot be run.*make its environment anew/);
    expect(await failure({ folder: join(folder, 'no-folder') })).toMatch(/cannot be run/);
    expect(await failure({ python: '/bin/true' })).toMatch(/ended with code 0/);
    expect(await failure({ python: '/bin/echo' })).toMatch(/not a frame|ended with code 0/);
  });

  test('kernels that are not there, cannot be run, or die or hang at start', { tags: ['P-213'] }, async () => {
    expect(await failure({ kernelName: 'nosuch' })).toMatch(/there is no kernel "nosuch".*There are: .*python3/);
    specified('absent', { argv: ['/nonexistent/program', '{connection_file}'] });
    expect(await failure({ kernelName: 'absent' })).toMatch(/"\/nonexistent\/program" cannot be run: No such file/);
    specified('dies', { argv: ['python', '-c', 'import sys; sys.exit("the license has run out")', '{connection_file}'] });
    expect(await failure({ kernelName: 'dies' })).toMatch(/ended with code 1: the license has run out/);
    specified('hangs', { argv: ['sleep', '1000'] });
    expect(await failure({ kernelName: 'hangs', startTimeoutMs: 3000 })).toMatch(/was not ready after 3 s/);
    specified('remote', { argv: ['true'], metadata: { kernel_provisioner: { provisioner_name: 'far-away' } } });
    expect(await failure({ kernelName: 'remote' })).toMatch(/runs elsewhere, by "far-away"/);
  });

  test('a Python that is too old says so', async ({ skip }) => {
    const old = ['3.7', '3.6', '2.7'].flatMap((version) => versionsOf(version));
    skip(old.length === 0, 'there is no Python before 3.8 on this machine');
    for (const each of old) expect(await failure({ python: each }), each).toMatch(/is Python [\d.]+, and 3.8 is the oldest that works/);
  });

  test('100 MB of lines neither fill our memory nor hang, with a host that is slow', { tags: ['P-207'] }, async () => {
    const harness = await openJupyterHarness({ python });
    const before = process.memoryUsage().rss;
    let characters = 0;
    await harness.kernel.execute('for i in range(100_000): print("x" * 999)', {
      onOutput(output) {
        if (output.output_type !== 'stream') return;
        characters += output.text.length;
        const endMs = performance.now() + 1;
        while (performance.now() < endMs);
      },
    });
    expect(characters).toBe(100_000_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
    await harness.close();
  });

  test('a flood of small messages ends with its cell', async () => {
    const harness = await openJupyterHarness({ python });
    const { status, updates } = await runCell(harness, 'h = display("", display_id="d")\nfor i in range(20_000): h.update(i)');
    expect(status).toBe('ok');
    expect(updates.length).toBeGreaterThan(1000);
    await harness.close();
  });

  test('forks, and what the code starts, end with the kernel', async () => {
    const harness = await openJupyterHarness({ python });
    const children =
      'import os, subprocess\nchild = subprocess.Popen(["sleep", "1000"])\npid = os.fork()\nif pid == 0:\n    import time; time.sleep(1000)';
    const { result } = await runCell(harness, `${children}\n[os.getpid(), child.pid, pid]`);
    const pids = JSON.parse(result ?? '[]') as number[];
    expect(pids).toHaveLength(3);
    await harness.close();
    await until(() => pids.every(isGone), startMs);
  });

  test('input() with nobody there is an error at once', async () => {
    const harness = await openJupyterHarness({ python });
    expect(await runCell(harness, 'input("name? ")')).toMatchObject({ status: 'error', error: { ename: 'StdinNotImplementedError' } });
    const asked: unknown[] = [];
    const outputs: unknown[] = [];
    const execution = await harness.kernel.execute('import getpass\ninput("name? "), getpass.getpass("secret? ")', {
      onOutput: (output) => outputs.push(output),
      onInput: async (question) => {
        asked.push(question);
        return question.password ? 'hidden' : 'Ada 🎈';
      },
    });
    expect(execution.status).toBe('ok');
    expect(asked).toEqual([
      { prompt: 'name? ', password: false },
      { prompt: 'secret? ', password: true },
    ]);
    expect(outputs.at(-1)).toMatchObject({ data: { 'text/plain': "('Ada 🎈', 'hidden')" } });
    const refused = harness.kernel.execute('input()', { onOutput: (output) => outputs.push(output), onInput: async () => undefined });
    expect(await refused).toMatchObject({ status: 'error' });
    expect(outputs.at(-1)).toMatchObject({ ename: 'EOFError' });
    const stopping = new AbortController();
    const waiting = harness.kernel.execute('input()', {
      onOutput: () => {},
      signal: stopping.signal,
      onInput: (_, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve(undefined));
          stopping.abort();
        }),
    });
    expect(await waiting).toMatchObject({ status: 'interrupted' });
    expect(await runCell(harness, '1 + 1')).toMatchObject({ result: '2' });
    await harness.close();
  });

  test('one that is late to answer an interrupted cell does not end the next one by it', async () => {
    const harness = await openJupyterHarness({ python });
    await runCell(
      harness,
      [
        'import time',
        'handlers = get_ipython().kernel.shell_handlers',
        'info = handlers["kernel_info_request"]',
        'def late(*args):',
        '    time.sleep(0.5)',
        '    return info(*args)',
        'handlers["kernel_info_request"] = late',
      ].join('\n'),
    );
    const longer = 'try:\n    print("on", flush=True)\n    time.sleep(100)\nexcept KeyboardInterrupt:\n    time.sleep(0.2)';
    expect(await harness.measure(longer, { interruptAfterCharacters: 1 })).toMatchObject({ status: 'ok' });
    expect(await runCell(harness, '1 + 1')).toMatchObject({ status: 'ok', result: '2' });
    await harness.close();
  });

  test('no frame is taken from what user code writes to the helper’s streams', async () => {
    const harness = await openJupyterHarness({ python });
    await runCell(harness, 'import os\nos.write(1, b"\\0\\0\\0\\2\\0\\0\\0\\0{}"); os.write(2, b"x" * 100)');
    expect(harness.kernel.state).toBe('idle');
    expect(await runCell(harness, '40 + 2')).toMatchObject({ result: '42' });
    await harness.close();
  });

  test('its folder in /tmp goes with it', async () => {
    const harness = await openJupyterHarness({ python });
    const { result } = await runCell(
      harness,
      'import os; os.environ.get("JPY_PARENT_PID"), [p for p in __import__("sys").argv if "connection" in p]',
    );
    const connection = /\/[^']*connection\.json/.exec(result ?? '')?.[0] ?? '';
    expect(JSON.parse(readFileSync(connection, 'utf8'))).toMatchObject({ transport: 'ipc' });
    await harness.close();
    expect(existsSync(dirname(connection))).toBe(false);
  });
});

function isGone(pid: number): boolean {
  try {
    return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return true;
  }
}

function versionsOf(version: string): string[] {
  const root = join(process.env.PYENV_ROOT ?? join(process.env.HOME ?? '', '.pyenv'), 'versions');
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .filter((name) => name.startsWith(`${version}.`))
    .map((name) => join(root, name, 'bin', 'python'))
    .filter((file) => existsSync(file));
}
