// @module-tag deep
// @module-tag P-225

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { JsonObject } from '@notebridge/protocol/json';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { openChromium } from '../../../../scripts/tests/open-chromium.mjs';
import { bareEnvironment } from '../support/bare-environment.js';
import { livingProcesses, SharedHome, until } from '../support/broker.js';
import { Program, programFile, runProgram } from '../support/program.js';
import { windowUrlIn } from '../support/window-url.js';

const slow = { ...drivesBrowser, timeout: 240_000 };
let browser: Browser | undefined;
beforeAll(async () => {
  const executablePath = findChromium();
  if (executablePath !== undefined) browser = await openChromium();
});
afterAll(() => browser?.close());

/** `notebridge notebook FILE` as a person starts it. */
class Terminal implements AsyncDisposable {
  readonly child: ChildProcessWithoutNullStreams;
  said = '';

  /** Without a file: in memory. */
  constructor(file: string | undefined, env: Record<string, string>, more = ['--headless']) {
    const args = ['notebook', ...(file === undefined ? [] : [file]), ...more];
    const command = [process.execPath, programFile, ...args].map((word) => `'${word}'`).join(' ');
    this.child = spawn('/usr/bin/script', ['-qec', command, '/dev/null'], { env: { ...bareEnvironment(), ...env }, stdio: 'pipe' });
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.said += text;
    });
  }

  async url(): Promise<string> {
    await until(() => /Ctrl-C/.test(this.said));
    return /http:\/\/localhost:\d+\/#\w+=[\w-]+/.exec(this.said)?.[0] ?? '';
  }

  /** As when its window is closed at once, or the machine runs out of memory. */
  async kill(): Promise<void> {
    const ended = once(this.child, 'close');
    const own = [this.child.pid];
    const all = livingProcesses();
    for (const parent of own) own.push(...all.filter((each) => each.parent === parent).map(({ pid }) => pid));
    for (const pid of own.slice(1)) {
      try {
        if (pid !== undefined) process.kill(pid, 'SIGKILL');
      } catch (error) {
        // One that has ended with the one before it.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
    await ended;
    await until(() => !livingProcesses().some(({ pid }) => own.includes(pid)));
  }

  async end(): Promise<void> {
    const ended = once(this.child, 'close');
    this.child.stdin.write('\u0003');
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await this.end();
  }
}

async function openWindow(url: string): Promise<Page & AsyncDisposable> {
  if (browser === undefined) throw new Error('There is no browser.');
  const page = await browser.newPage();
  await page.goto(url);
  return Object.assign(page, { [Symbol.asyncDispose]: () => page.close() });
}

const noBrowser = 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set';

describe.runIf(process.platform === 'linux')('one window, whoever came first', () => {
  it('a terminal that is killed and started again finds its window back and opens no other, and one that had joined says what to do', {
    ...slow,
    tags: ['P-698'],
  }, async ({ skip }) => {
    skip(browser === undefined, noBrowser);
    await using home = new SharedHome();
    const [file, opened, recorder] = [home.path('work.ipynb'), home.path('opened'), home.path('browser')];
    writeFileSync(recorder, `#!/bin/sh\necho "$1" >> '${opened}'\n`, { mode: 0o755 });
    const addresses = () => (existsSync(opened) ? readFileSync(opened, 'utf8').trim().split('\n') : []);
    const env = { ...home.env, BROWSER: recorder };
    await using first = new Terminal(file, env, ['--kernel', 'pyodide']);
    await until(() => addresses().length === 1);
    await using page = await openWindow(addresses()[0] ?? '');
    await page.locator('.kernel[data-state="idle"]').waitFor({ timeout: 60_000 });
    await using joined = new Terminal(file, env);
    await until(() => joined.said.includes('open in another process already'));
    await first.kill();
    await until(() => joined.said.includes('Press Enter to open it again, with a new kernel; Ctrl-C ends this command.'));
    await using second = new Terminal(file, env, ['--kernel', 'pyodide']);
    await until(() => second.said.includes('The window that was open before goes on.'));
    expect(addresses()).toHaveLength(1);
  });

  it('person first: agents join the terminal’s notebook, leave it, and lose nothing', slow, async ({ skip }) => {
    skip(browser === undefined, noBrowser);
    await using home = new SharedHome();
    const file = home.path('work.ipynb');
    await using terminal = new Terminal(file, home.env);
    await using page = await openWindow(await terminal.url());
    const args = ['--notebook', file];
    const first = await Program.open({ args, env: home.env, name: 'First agent' });
    await first.callTool('run_code', { code: 'x = 41\nprint("from the first")' });
    await page.getByText('from the first', { exact: true }).waitFor({ timeout: 60_000 });
    await using second = await Program.open({ args, env: home.env, name: 'Second agent' });
    await second.callTool('get_cells');
    for (const name of ['First agent', 'Second agent'])
      await page.getByRole('button', { name: `Disconnect ${name}` }).waitFor({ timeout: 60_000 });
    first.child.kill('SIGKILL');
    await first.close();
    await page.getByRole('button', { name: 'Disconnect First agent' }).waitFor({ state: 'detached', timeout: 60_000 });
    await second.callTool('run_code', { code: 'print("now", x + 1)' });
    await page.getByText('now 42').waitFor({ timeout: 60_000 });
    // Nobody needed a broker for this.
    expect(home.broker).toBeUndefined();
    const { stdout } = await runProgram(['ps', '--json'], { env: home.env });
    expect(JSON.parse(stdout)).toMatchObject({
      hosts: [{ kind: 'notebook', notebooks: [{ file, windows: 1, agents: ['Second agent'] }] }],
    });
    await terminal.end();
    // The person has ended it; the agent's next call has it opened again.
    expect(textsOf(await second.callTool('get_cells')).at(-1)).toMatch(/opened again from its file/);
    expect(home.broker).toBeDefined();
  });

  it('a terminal’s notebook in memory is listed, is joined by nobody, and what is in it is lost by force alone', {
    ...slow,
    tags: ['P-259'],
  }, async ({ skip }) => {
    skip(browser === undefined, noBrowser);
    await using home = new SharedHome();
    await using terminal = new Terminal(undefined, home.env);
    await using page = await openWindow(await terminal.url());
    await page.locator('.empty-note').waitFor({ timeout: 60_000 });
    await page.keyboard.press('Enter');
    await page.locator('.cell').waitFor({ timeout: 60_000 });
    const listed = async () => JSON.parse((await runProgram(['ps', '--json'], { env: home.env })).stdout) as JsonObject;
    const own = { kind: 'notebook', notebooks: [{ file: null, windows: 1 }] };
    expect(await listed()).toMatchObject({ hosts: [own] });
    await using agent = await Program.open({ args: ['notebook', '--headless'], env: home.env, name: 'Agent' });
    expect(textsOf(await agent.callTool('get_cells')).join('')).toContain('"cells":[]');
    await agent.close();
    const refused = await runProgram(['stop', 'all'], { env: home.env });
    expect(refused.stderr).toContain('its one cell is in no file');
    expect(await listed()).toMatchObject({ hosts: [own] });
    await runProgram(['stop', 'all', '--force'], { env: home.env });
    expect(await listed()).toEqual({ hosts: [] });
  });

  it('agent first: its end, and a disconnect, leave the window, the kernel and the other agent', { ...slow, tags: ['P-226'] }, async ({
    skip,
  }) => {
    skip(browser === undefined, noBrowser);
    await using home = new SharedHome();
    const file = home.path('work.ipynb');
    const args = ['notebook', file, '--headless'];
    const first = await Program.open({ args, env: home.env, name: 'First agent' });
    await first.until(() => windowUrlIn(first.stderr) !== '', 60_000);
    await using page = await openWindow(windowUrlIn(first.stderr));
    await first.callTool('run_code', { code: 'x = 41\nprint("from the first")' });
    await page.getByText('from the first', { exact: true }).waitFor({ timeout: 60_000 });
    first.child.kill('SIGKILL');
    await first.close();
    await page.getByRole('button', { name: 'Disconnect First agent' }).waitFor({ state: 'detached', timeout: 60_000 });
    await using second = await Program.open({ args, env: home.env, name: 'Second agent' });
    await second.callTool('run_code', { code: 'print("now", x + 1)' });
    await page.getByText('now 42').waitFor({ timeout: 60_000 });
    await page.getByRole('button', { name: 'Disconnect Second agent' }).click();
    await page.getByRole('button', { name: 'Disconnect Second agent' }).waitFor({ state: 'detached', timeout: 60_000 });
    expect(await second.callTool('get_cells')).toMatchObject({
      result: { isError: true, content: [{ text: expect.stringMatching(/A person disconnected this agent.*To come back/) }] },
    });
    await using third = await Program.open({ args, env: home.env, name: 'Third agent' });
    await third.callTool('run_code', { code: 'print("still", x + 2)' });
    await page.getByText('still 43').waitFor({ timeout: 60_000 });
    // A person at a terminal joins too.
    await using terminal = new Terminal(file, home.env);
    await using other = await openWindow(await terminal.url());
    await other.getByText('still 43').waitFor({ timeout: 60_000 });
    expect(terminal.said).toContain('open in another process already');
    await terminal.end();
    expect(await third.callTool('get_cells')).not.toHaveProperty('error');
    await runProgram(['stop', file], { env: home.env });
    const { stdout } = await runProgram(['ps', '--json'], { env: home.env });
    // It was the only one, so its process has ended too.
    expect(JSON.parse(stdout)).toEqual({ hosts: [] });
  });
});

function textsOf({ result }: JsonObject): string[] {
  return (result as { content: { text: string }[] }).content.map(({ text }) => text);
}
