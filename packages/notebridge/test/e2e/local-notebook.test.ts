import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.js';
import { findChromium } from '../fixtures/colab-page/chromium.js';
import { Program } from '../support/program.js';

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

  it('interrupts an endless loop when the agent cancels', async () => {
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

  it('refuses a file that is no notebook, names the place, and leaves it alone', async () => {
    writeFileSync(file, '{"nbformat": 3, "worksheets": []}');
    const program = new Program({ args: ['--notebook', file] });
    const [code] = await once(program.child, 'exit');
    expect(code).toBe(2);
    expect(program.stderr).toMatch(/^notebridge: .*nbformat/m);
    expect(readFileSync(file, 'utf8')).toBe('{"nbformat": 3, "worksheets": []}');
    await program.close();
  });
});

describe('notebridge notebook', () => {
  it('shows a window in which a person sees the agent at work, and can let it go', async ({ skip }) => {
    skip(findChromium() === undefined, 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set');
    await using program = await Program.open({ args: ['notebook', file, '--headless'] });
    await program.until(() => /#token=/.test(program.stderr));
    const [url = ''] = /http:\S+#token=\S+/.exec(program.stderr) ?? [];
    const browser = await chromium.launch({ executablePath: findChromium() ?? '', args: ['--no-sandbox', '--disable-gpu'] });
    try {
      const page = await browser.newPage();
      await page.goto(url);
      await page.getByText('Agent connected').waitFor();
      expect(page.url()).not.toContain('token');
      await program.callTool('run_code', { code: 'print("seen " * 2)' });
      await page.getByText('seen seen').waitFor();
      await page.reload();
      await page.getByText('seen seen').waitFor();
      const exited = once(program.child, 'exit');
      await page.getByRole('button', { name: /^Disconnect/ }).click();
      expect(await exited).toEqual([0, null]);
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
