// @module-tag P-184

import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { pythonWith } from '../../../../scripts/python-env.mjs';
import { bareEnvironment } from '../support/bare-environment.js';
import { coreAndDeep } from '../support/core-and-deep.js';
import { type Ending, programFile } from '../support/program.js';

const run = promisify(execFile);
const demo = fileURLToPath(new URL('../../../../examples/colab-demo.mjs', import.meta.url));

it('the demo runs to its end', { tags: ['deep'] }, async () => {
  const { stdout } = await runDemo();
  expect(stdout).toContain('Done: one agent session, one open, one reload, no restart.');
});

it('the demo runs without a browser too, and says so', { tags: ['deep'] }, async () => {
  // A browser that is not there, on a machine that may have one.
  const { stdout } = await runDemo({ CHROMIUM_PATH: '/nonexistent/chromium' });
  expect(stdout).toContain('Node (no Chromium found; the same page code)');
  expect(stdout).toContain('Done: one agent session');
});

/** The demo of the repository, with a folder of its own for the log of its bridge. */
async function runDemo(env: Record<string, string> = {}): Promise<{ stdout: string }> {
  const state = mkdtempSync(join(tmpdir(), 'notebridge-demo-state-'));
  onTestFinished(() => rmSync(state, { recursive: true, force: true }));
  return run(process.execPath, [demo], { timeout: 120_000, env: { ...process.env, XDG_STATE_HOME: state, ...env } });
}

describe('notebridge demo', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'notebridge-demo-test-'));
    for (const name of ['temporary', 'home']) mkdirSync(join(folder, name));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('tells each step, checks it, and leaves nothing behind', { tags: ['P-008'] }, async () => {
    const { ending, stdout, stderr } = await play([]).ended;
    expect({ ending, stderr }).toEqual({ ending: 0, stderr: '' });
    expect(stdout.match(/^ {3}✓ /gm)).toHaveLength(10);
    expect(stdout).toContain('a whole PNG of 300 × 200 pixels');
    expect(stdout).toContain("NameError: name 'widht' is not defined");
    expect(stdout).toContain('refused (stale_cell)');
    expect(stdout).toMatch(/filesystem server listed \d+ files for Python; the chart is right/);
    expect(stdout).toMatch(
      /both ways\. Direct: \d+ tools listed, \d+ calls, about [\d,]+ tokens\. In code mode: 3 tools listed, 3 calls, about [\d,]+ tokens/,
    );
    expect(stdout).toContain('Done: 10 steps');
    expect(stdout).not.toContain('\u001b');
    expect(readdirSync(join(folder, 'temporary'))).toEqual([]);
    expect(readdirSync(join(folder, 'home'))).toEqual([]);
  });

  it("--keep keeps the notebook, which Python's nbformat finds valid too, and says what to type next, each of which runs from any folder", {
    tags: ['deep', 'P-237'],
    timeout: 400_000,
  }, async () => {
    const python = await pythonWith(['nbformat']);
    const file = join(folder, "kept it's.ipynb");
    const { ending, stdout } = await play(['--keep', file], { PATH: `${dirname(python)}${delimiter}${process.env.PATH}` }).ended;
    expect(ending).toBe(0);
    expect(stdout).toMatch(/valid nbformat 4\.5 by Notebridge's own check and by Python's nbformat \d/);
    expect(stdout).toContain(`The notebook is kept: ${file}`);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      nbformat: 4,
      cells: [
        { cell_type: 'markdown' },
        { cell_type: 'code', execution_count: 1 },
        { source: ['f"{width * height:,} points"'] },
        { outputs: [{ data: { 'image/svg+xml': expect.arrayContaining([expect.stringContaining('colab-demo.mjs')]) } }] },
      ],
    });
    expect(readdirSync(folder).sort()).toEqual(['home', "kept it's.ipynb", 'temporary']);
    expect(readdirSync(join(folder, 'temporary'))).toEqual([]);
    const [, next = ''] = stdout.split('Next, from any folder:\n');
    const lines = next.split('\n').flatMap((line) => /^ {2}[A-Z].*? {2,}(node .+?)(?: {2,}.*)?$/.exec(line)?.[1] ?? []);
    expect(lines.map((line) => line.split(programFile)[1])).toEqual([
      ' demo --browser',
      ` notebook '${file.replaceAll("'", `'\\''`)}' --kernel auto`,
      ' setup claude-code',
    ]);
    const env = { ...bareEnvironment(), HOME: join(folder, 'home'), TMPDIR: join(folder, 'temporary'), BROWSER: 'true' };
    for (const line of lines) {
      // Nobody is there: the notebook ends with its input, after it has opened.
      const ran = run('bash', ['--norc', '-euc', line], { cwd: folder, env, timeout: 120_000 });
      ran.child.stdin?.end(`${JSON.stringify(initialize)}\n`);
      expect((await ran).stdout).toMatch(/^(?:An agent|Done|Claude Code reads|\{"jsonrpc":"2.0","id":1,"result")/m);
    }
    // The notebook goes on without its agent.
    await run(process.execPath, [programFile, 'stop', 'all'], { cwd: folder, env, timeout: 120_000 });
  });

  it('--json prints one object, and --browser opens a window that is there, whatever the settings of its user', {
    tags: ['deep', 'P-008'],
  }, async () => {
    const config = join(folder, 'broken.json');
    writeFileSync(config, '{');
    const browser = join(folder, 'browser.sh');
    const opened = join(folder, 'opened');
    writeFileSync(browser, `#!/bin/sh\nprintf %s "$1" > "${opened}"\n`);
    chmodSync(browser, 0o755);
    const { ending, stdout } = await play(['--json', '--browser'], {
      ...{ NOTEBRIDGE_CONFIG: config, NOTEBRIDGE_NOTEBOOK: 'colab' },
      BROWSER: browser,
    }).ended;
    expect(ending).toBe(0);
    const report = JSON.parse(stdout) as Report;
    expect(Object.keys(report)).toEqual(['ok', 'steps']);
    expect(report.ok).toBe(true);
    expect(report.steps.map(({ name }) => name)).toEqual([
      'start',
      'window',
      'write',
      'draw',
      'fail',
      'mend',
      'stale',
      'undo',
      'tools',
      'code-mode',
      'save',
    ]);
    for (const step of report.steps) expect(step).toMatchObject({ ok: true, ms: expect.any(Number), detail: expect.any(String) });
    const url = readFileSync(opened, 'utf8');
    expect(url).toMatch(/^http:.*#token=/);
    expect(report.steps[1]?.detail).toContain(`Opened in browser.sh.`);
    expect(stdout).not.toContain(new URL(url).hash.slice(7));
  });

  const places: [string, RegExp][] = [
    ['taken.ipynb', /something is there already, and the demo overwrites nothing/],
    ['no-folder/new.ipynb', /a part of the path does not exist \(ENOENT\)\. Create the folder/],
    ['taken.ipynb/new.ipynb', /a part of the path is not a folder \(ENOTDIR\)/],
    ['notebook.txt', /Name a file that ends in \.ipynb/],
  ];
  for (const { cells, tags } of coreAndDeep(places, (_, index) => index === 0))
    it.each(cells)('--keep %s is refused in one line, with exit code 2, and nothing is touched', { tags }, async (name, complaint) => {
      writeFileSync(join(folder, 'taken.ipynb'), 'mine');
      const { ending, stdout, stderr } = await play(['--keep', join(folder, name)]).ended;
      expect({ ending, stdout }).toEqual({ ending: 2, stdout: '' });
      expect(stderr).toMatch(/^notebridge: Cannot keep the notebook as .*\n$/);
      expect(stderr).toMatch(complaint);
      expect(readFileSync(join(folder, 'taken.ipynb'), 'utf8')).toBe('mine');
      expect(readdirSync(join(folder, 'temporary'))).toEqual([]);
    });

  it('says which step failed, what was expected and what was found, with exit code 1', { tags: ['deep', 'P-008'] }, async () => {
    const demo = play([]);
    // A call is under way for as long as Python takes to start.
    await demo.said('→ run_code');
    // The program alone: those below it come and go while the list is made, and end with it.
    const [program = 0] = await descendantsOf(demo.pid);
    process.kill(program, 'SIGKILL');
    const { ending, stdout, stderr } = await demo.ended;
    expect(ending).toBe(1);
    expect(stdout).toMatch(/^ {3}✗ expected an answer to "tools\/call"; found "Notebridge has ended \(SIGKILL\)"/m);
    expect(stderr).toMatch(/^notebridge: The demo failed at step \d, "\w+": expected .*; found .*\n$/);
    expect(readdirSync(join(folder, 'temporary'))).toEqual([]);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    'ends cleanly by %s in the middle, with no process and no file left',
    { tags: ['deep'], timeout: 240_000 },
    async (signal, code) => {
      const demo = play([]);
      await demo.said('→ run_code');
      const others = await descendantsOf(demo.pid);
      expect(others).not.toEqual([]);
      process.kill(demo.pid, signal);
      const { ending, stderr } = await demo.ended;
      expect({ ending, stderr }).toEqual({
        ending: code,
        stderr: `notebridge: The demo was stopped (${signal}). Nothing is left of it.\n`,
      });
      await untilGone(others);
      expect(readdirSync(join(folder, 'temporary'))).toEqual([]);
    },
  );

  it('a demo that is killed takes its processes with it', { tags: ['deep'] }, async () => {
    const demo = play([]);
    await demo.said('→ run_code');
    const others = await descendantsOf(demo.pid);
    expect(others).not.toEqual([]);
    process.kill(demo.pid, 'SIGKILL');
    expect((await demo.ended).ending).toBe('SIGKILL');
    await untilGone(others);
  });

  /** Starts it in a home and a folder for temporary files of its own. */
  function play(args: string[], env: Record<string, string> = {}): Playing {
    const clean = { PATH: process.env.PATH ?? '', HOME: join(folder, 'home'), TMPDIR: join(folder, 'temporary') };
    const child = spawn(process.execPath, [programFile, 'demo', ...args], { env: { ...clean, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    return watch(child);
  }
});

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
};

interface Report {
  ok: boolean;
  steps: { name: string; ok: boolean; ms: number; detail: string }[];
}

interface Playing {
  pid: number;
  ended: Promise<{ ending: Ending; stdout: string; stderr: string }>;
  /** Waits for a text on stdout; rejects if the demo ends without it. */
  said(text: string): Promise<void>;
}

function watch(child: ChildProcessByStdio<null, Readable, Readable>): Playing {
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return {
    pid: child.pid ?? 0,
    ended: new Promise((resolve) => child.once('close', (code, signal) => resolve({ ending: code ?? signal ?? -1, stdout, stderr }))),
    said: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (stdout.includes(text)) resolve();
        };
        child.stdout.on('data', look);
        child.once('close', () => reject(new Error(`It never said "${text}", but: ${stdout}${stderr}`)));
        look();
      }),
  };
}

/** All processes that it has started, and theirs. */
async function descendantsOf(pid: number): Promise<number[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=']);
  const rows = stdout
    .trim()
    .split('\n')
    .map((row) => row.trim().split(/\s+/).map(Number));
  const below = (parent: number): number[] => rows.flatMap(([own = 0, above]) => (above === parent ? [own, ...below(own)] : []));
  return below(pid);
}

/** The end of a process that is not our child is told by no event. */
async function untilGone(pids: number[]): Promise<void> {
  await expect.poll(async () => (await Promise.all(pids.map(isAlive))).filter(Boolean)).toEqual([]);
}

/** One that has ended, and whose parent has not asked yet, is gone as well. */
async function isAlive(pid: number): Promise<boolean> {
  const { stdout } = await run('ps', ['-o', 'stat=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return stdout.trim() !== '' && !stdout.trim().startsWith('Z');
}
