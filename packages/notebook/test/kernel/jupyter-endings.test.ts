// @module-tag P-207

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { until } from '../host/support/until.js';
import { openJupyterHarness, sciencePython } from './support/jupyter-harness.js';
import { runCell } from './support/run-cell.js';

const startMs = 120_000;
/** The kernel, something that it has started, a fork of it. */
const family = `import os, subprocess, sys
child = subprocess.Popen(["sleep", "1000"])
fork = os.fork()
if fork == 0:
    import time
    time.sleep(1000)
connection = next(word for word in sys.argv if "connection" in word)
`;

describe('the end of a kernel of Jupyter', { timeout: 3 * startMs }, () => {
  let program: ChildProcess | undefined;
  afterEach(() => program?.kill('SIGKILL'));

  test('takes its forks, and what it has started, with it: closed, killed from outside, ended by itself', async () => {
    const harness = await openJupyterHarness();
    const begin = async (): Promise<number[]> => {
      const { result } = await runCell(harness, `${family}[os.getpid(), os.getppid(), child.pid, fork]`);
      return JSON.parse(result ?? '[]') as number[];
    };
    const first = await begin();
    expect(first).toHaveLength(4);
    await expect(runCell(harness, 'import os; os._exit(5)')).rejects.toMatchObject({
      code: 'kernel_died',
      message: expect.stringMatching(/code 5/),
    });
    await until(() => first.every(isGone), startMs);

    await harness.kernel.restart();
    const second = await begin();
    // The helper itself.
    process.kill(second[1] ?? 0, 'SIGKILL');
    await until(() => harness.kernel.state === 'dead', startMs);
    await until(() => second.every(isGone), startMs);

    await harness.kernel.restart();
    const third = await begin();
    await harness.close();
    await until(() => third.every(isGone), startMs);
  });

  test('is said by a cell that calls exit(); breakpoint() asks, and ends where nobody answers', { tags: ['deep', 'P-660'] }, async () => {
    const harness = await openJupyterHarness();
    const asked: string[] = [];
    const printed: string[] = [];
    const { status } = await harness.kernel.execute('x = 5\nbreakpoint()\nprint("reach" + "ed")', {
      onOutput: (output) => printed.push(String(output.text)),
      onInput: async ({ prompt }) => void asked.push(prompt),
    });
    expect({ status, asked }).toEqual({ status: 'error', asked: ['ipdb> '] });
    expect(printed.join('')).not.toContain('reached');
    expect(await runCell(harness, 'x')).toMatchObject({ status: 'ok', result: '5' });
    for (const source of ['exit()', 'quit']) {
      const ended = await runCell(harness, source);
      expect(ended).toMatchObject({ status: 'ok', stderr: expect.stringContaining('restart_kernel') });
      expect(harness.kernel.state).toBe('dead');
      await expect(runCell(harness, '1')).rejects.toMatchObject({ code: 'kernel_dead', message: expect.stringContaining('exit()') });
      await harness.kernel.restart();
      expect(await runCell(harness, '"x" in globals()')).toMatchObject({ executionCount: 1, result: 'False' });
    }
    await harness.close();
  });

  test('comes when the program around it is killed', async () => {
    const bench = fileURLToPath(new URL('support/kernel-program.mjs', import.meta.url));
    program = spawn(
      process.execPath,
      [bench, await sciencePython(), `${family}print([os.getpid(), os.getppid(), child.pid, fork], connection, sep=";")`],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const lines = createInterface({ input: program.stdout as NodeJS.ReadableStream });
    const [line] = await new Promise<string[]>((resolve) => lines.once('line', (text) => resolve([text])));
    const [pids = '[]', connection = ''] = (line ?? '').split(';');
    const all = JSON.parse(pids) as number[];
    expect(all).toHaveLength(4);
    expect(all.some(isGone)).toBe(false);
    program.kill('SIGKILL');
    await until(() => all.every(isGone), startMs);
    await until(() => !existsSync(connection), startMs);
    lines.close();
  });
});

function isGone(pid: number): boolean {
  try {
    return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return true;
  }
}
