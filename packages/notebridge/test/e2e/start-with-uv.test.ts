// @module-tag deep
// @module-tag P-268

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pythonWith, runPython } from '../../../../scripts/python-env.mjs';
import { bareEnvironment } from '../support/bare-environment.js';
import { programFile } from '../support/program.js';

/** A terminal: its input and output are ours. */
const inTerminal = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';

let python = '';
let home = '';
let project = '';
let asked = '';
beforeEach(async () => {
  python = await pythonWith(['ipykernel', 'jupyter_client', 'numpy', 'pandas', 'matplotlib', 'scikit-learn', 'ipywidgets']);
  home = realpathSync.native(mkdtempSync(join(tmpdir(), 'notebridge-uv-')));
  project = join(home, 'project');
  asked = join(home, 'asked');
  mkdirSync(join(home, 'bin'));
  await runPython(python, ['-m', 'venv', '--without-pip', join(project, '.venv')]);
  // A uv that needs no network: as the real one, it runs the command in an environment that has ipykernel.
  const uv = `#!/bin/bash\necho "$VIRTUAL_ENV $*" > '${asked}'\nshift 4\nVIRTUAL_ENV='${dirname(dirname(python))}' exec "$@"\n`;
  writeFileSync(join(home, 'bin', 'uv'), uv);
  chmodSync(join(home, 'bin', 'uv'), 0o755);
}, 600_000);
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Answers the question, waits for a text, and ends it by Ctrl-C. */
async function open(answer: string, expected: RegExp): Promise<{ output: string; code: number | null }> {
  const env = {
    ...bareEnvironment(),
    HOME: home,
    PATH: `${join(home, 'bin')}:${dirname(process.execPath)}:/usr/bin:/bin`,
    NOTEBRIDGE_NO_BROWSER: '1',
  };
  const words = [process.execPath, programFile, 'notebook', 'work.ipynb', '--standalone'];
  const child: ChildProcessWithoutNullStreams = spawn(python, ['-c', inTerminal, ...words], { cwd: project, env, stdio: 'pipe' });
  let output = '';
  let isAnswered = false;
  let isEnding = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (!isAnswered && output.includes('[y/N]')) {
      isAnswered = true;
      child.stdin.write(`${answer}\n`);
    }
    if (!isEnding && expected.test(output) && output.includes('Press Enter')) {
      isEnding = true;
      child.stdin.write('\x03');
    }
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { output, code };
}

// A terminal of its own is had from Python, on systems that have such.
describe.skipIf(process.platform === 'win32')('an environment without ipykernel, where uv is', { timeout: 120_000 }, () => {
  it('is started by uv with the person’s yes, and is not changed', async () => {
    const before = readdirSync(project, { recursive: true }).sort();
    const { output, code } = await open('y', /Its code runs in Python .*activated/);
    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('The Python of .venv has no ipykernel. uv can start it') });
    expect(output).toMatch(/Its code runs in Python 3\S* \(venv-science, activated\): its environment is activated\./);
    expect(readFileSync(asked, 'utf8')).toBe(
      `${join(project, '.venv')} run --no-project --with ipykernel ${process.execPath} ${realpathSync(programFile)} notebook work.ipynb --standalone\n`,
    );
    expect(readdirSync(project, { recursive: true }).sort()).toEqual([...before, 'work.ipynb'].sort());
  });

  it('is left alone without one, and the command that changes it is printed', async () => {
    const { output, code } = await open('', /Its code runs in Python \(Pyodide\)/);
    expect(code).toBe(0);
    expect(output.replaceAll(/\s+/g, ' ')).toContain(`To fix it: uv pip install --python ${join(project, '.venv/bin/python')} ipykernel`);
    expect(existsSync(asked)).toBe(false);
  });
});
