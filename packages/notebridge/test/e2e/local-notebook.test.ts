// @module-tag deep
// @module-tag P-184

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { openChromium } from '../../../../scripts/tests/open-chromium.mjs';
import { untilBrokerEnded } from '../support/broker.js';
import { createHome, Program, programFile, runProgram } from '../support/program.js';
import { windowFileIn, windowUrlIn } from '../support/window-url.js';

let folder = '';
let file = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'notebridge-local-'));
  file = join(folder, 'work.ipynb');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the built-in notebook over stdio', () => {
  it('runs Python, sends progress and images, and saves a whole file', async () => {
    await using program = await Program.open({ args: ['--notebook', file] });
    expect(await program.request('tools/list')).toMatchObject({
      result: {
        tools: expect.arrayContaining([expect.objectContaining({ name: 'run_code' }), expect.objectContaining({ name: 'get_cells' })]),
      },
    });
    const code =
      'import base64\nfrom IPython.display import Image\nprint("drawing")\nImage(base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="))';
    const answer = await program.callTool('run_code', { code }, { progressToken: 'p' });
    expect(answer).toMatchObject({ result: { content: [{ type: 'text' }, { type: 'image', mimeType: 'image/png' }] } });
    expect(program.notifications).toContainEqual(
      expect.objectContaining({ params: expect.objectContaining({ progressToken: 'p', message: 'drawing' }) }),
    );
    expect(await program.close()).toBe(0);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ nbformat: 4, cells: [{ cell_type: 'code', execution_count: 1 }] });
    expect(program.noise).toEqual([]);
  });

  it('refuses a stale revision, and takes the last change back', async () => {
    await using program = await Program.open({ args: ['--notebook', 'local'] });
    const { newCellId } = jsonOf(await program.callTool('add_text_cell', { cellIndex: 0, content: 'one' }));
    const rev = Number((jsonOf(await program.callTool('get_cells')).cells as { rev: number }[])[0]?.rev);
    await program.callTool('update_cell', { cellId: newCellId, content: 'two', expected_rev: rev });
    expect(await program.callTool('update_cell', { cellId: newCellId, content: 'three', expected_rev: rev })).toMatchObject({
      result: { isError: true },
    });
    await program.callTool('undo_last_change');
    expect(jsonOf(await program.callTool('get_cells'))).toMatchObject({ cells: [{ id: newCellId, source: ['one'] }] });
  });

  it('interrupts an endless loop when the agent cancels', { tags: ['P-104'] }, async () => {
    await using program = await Program.open({ args: ['--notebook', 'local'] });
    await program.callTool('run_code', { code: '1' });
    // Never answered, since it is cancelled.
    program
      .request(
        'tools/call',
        { name: 'run_code', arguments: { code: 'print("on")\nwhile True: pass' }, _meta: { progressToken: 1 } },
        'loop',
      )
      .catch(() => {});
    await program.until(() => program.notifications.some(({ method }) => method === 'notifications/progress'));
    program.notify('notifications/cancelled', { requestId: 'loop', reason: 'enough' });
    expect(jsonOf(await program.callTool('run_code', { code: '2 + 2' }))).toMatchObject({ status: 'ok' });
  });

  it('refuses a file that is no notebook, names the place, and leaves it alone', { tags: ['P-098'] }, async () => {
    writeFileSync(file, '{"worksheets": []}');
    const program = new Program({ args: ['--notebook', file] });
    const [code] = await once(program.child, 'exit');
    expect(code).toBe(2);
    expect(program.stderr).toMatch(/^notebridge: .*line 1: the notebook lacks "nbformat"/m);
    expect(readFileSync(file, 'utf8')).toBe('{"worksheets": []}');
    await program.close();
  });
});

describe('notebridge notebook', () => {
  it.each([
    [['notebook', 'notes.txt'], 'notes.ipynb'],
    [['notebook', 'some/.ipynb.bak'], 'some/work.ipynb'],
    [['notebook', 'local'], 'local.ipynb'],
    [['notebook', 'work.IPYNB'], 'work.ipynb'],
  ])('%j is refused, names a notebook, and leaves what is there alone', async (args, better) => {
    const [command = '', name = ''] = args;
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, 'my notes');
    const { ending, stderr } = await runProgram([command, path]);
    expect(ending).toBe(2);
    expect(stderr).toBe(
      `notebridge: "${path}" is no name of a notebook, and was left alone. Name a file that ends in .ipynb: "${join(folder, better)}"\n`,
    );
    expect(readFileSync(path, 'utf8')).toBe('my notes');
    expect(readdirSync(dirname(path))).toEqual([basename(path)]);
  });

  it('says why it ends, if nobody is there', async () => {
    const { ending, stderr } = await runProgram(['notebook', '--headless']);
    expect(ending).toBe(0);
    expect(stderr).toMatch(/Standard input ended before an agent said anything, so this has ended too\..* start it in a terminal\.\n/);
  });

  it('--read-only lets agents look, and change or run nothing', { tags: ['P-112'] }, async () => {
    await using program = await Program.open({ args: ['notebook', file, '--headless', '--read-only'] });
    for (const [tool, args] of [
      ['run_code', { code: '1' }],
      ['add_text_cell', { cellIndex: 0, content: 'x' }],
    ] as const)
      expect(jsonOf(await program.callTool(tool, args))).toMatchObject({ error: { code: 'read_only' } });
    expect(jsonOf(await program.callTool('get_cells'))).toMatchObject({ cells: [] });
  });

  it('shows the token of its window to a terminal and to nobody else: it stands in a private file, which goes with it', async () => {
    const program = await Program.open({ args: ['notebook', file, '--headless'] });
    await program.until(() => windowFileIn(program.stderr) !== undefined);
    const [path = '', url] = [windowFileIn(program.stderr), windowUrlIn(program.stderr)];
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const { origin, hash } = new URL(url);
    expect((await fetch(origin)).status).toBe(200);
    const answer = JSON.stringify(await program.callTool('open_notebook_window'));
    expect(windowFileIn(answer.replaceAll('\\"', '"'))).toBe(path);
    const logs = readdirSync(join(program.home, 'state', 'notebridge'), { recursive: true, withFileTypes: true }).filter(
      (entry) => entry.isFile() && !entry.name.endsWith('.url'),
    );
    const said = [program.stderr, answer, ...logs.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'))].join();
    expect(said).not.toContain(hash.replace(/^#\w+=/, ''));
    program.child.stdin.end();
    await program.ended;
    await untilBrokerEnded(program.stateHome);
    expect(existsSync(path)).toBe(false);
    await program.close();
  });

  it.runIf(process.platform === 'linux')('shows it to a terminal', async () => {
    const command = [process.execPath, programFile, 'notebook', file, '--headless'].map((word) => `'${word}'`).join(' ');
    const { home, env } = createHome();
    const child = spawn('/usr/bin/script', ['-qec', command, '/dev/null'], { env, stdio: 'pipe' });
    let said = '';
    for await (const text of child.stdout.setEncoding('utf8')) {
      said += text;
      if (/Ctrl-C/.test(said)) break;
    }
    child.stdin.write('\u0003');
    await once(child, 'close');
    rmSync(home, { recursive: true, force: true });
    expect(said).toMatch(/http:\/\/localhost:\d+\/#\w+=[\w-]{22,}/);
  });

  it('shows a window in which a person sees the agent at work, and can let it go', {
    ...drivesBrowser,
    timeout: 240_000,
    tags: ['P-106'],
  }, async ({ skip }) => {
    skip(findChromium() === undefined, 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set');
    await using program = await Program.open({ args: ['notebook', file, '--headless'] });
    await program.until(() => windowFileIn(program.stderr) !== undefined);
    const url = windowUrlIn(program.stderr);
    const browser = await openChromium();
    try {
      const page = await browser.newPage();
      await page.goto(url);
      await page.getByTitle('Agent connected').waitFor();
      expect(page.url()).not.toContain('token');
      await program.callTool('run_code', { code: 'print("seen " * 2)' });
      await page.getByText('seen seen').waitFor();
      await page.reload();
      await page.getByText('seen seen').waitFor();
      await page.getByRole('button', { name: /^Disconnect/ }).click();
      await page.getByText('No agent connected').waitFor();
      const refused = { isError: true, content: [{ text: expect.stringMatching(/disconnected.*To come back/) }] };
      expect(await program.callTool('get_cells')).toMatchObject({ result: refused });
      expect(await program.request('tools/list')).toMatchObject({ error: { data: { code: 'disconnected' } } });
    } finally {
      await browser.close();
    }
  });
});

/** The value in a tool result's first text. */
function jsonOf({ result }: JsonObject): JsonObject {
  const [block] = (result as { content: { text: string }[] }).content;
  return JSON.parse(block?.text ?? 'null') as JsonObject;
}
