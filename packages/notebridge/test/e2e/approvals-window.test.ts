// @module-tag deep
// @module-tag P-427

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { openChromium } from '../../../../scripts/tests/open-chromium.mjs';
import { Program } from '../support/program.js';
import { fixtureServer } from '../support/upstreams.js';
import { windowUrlIn } from '../support/window-url.js';

it('asks the person who runs a cell in the window of the notebook', { ...drivesBrowser, timeout: 240_000 }, async ({ skip }) => {
  const executablePath = findChromium();
  skip(!executablePath, 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set');
  const folder = mkdtempSync(join(tmpdir(), 'notebridge-window-'));
  const [config, calls] = [join(folder, 'mcp.json'), join(folder, 'calls')];
  const shop = { command: process.execPath, args: [fixtureServer('approvals.mjs'), calls] };
  writeFileSync(config, JSON.stringify({ mcpServers: { shop }, notebridge: { approve: 'destructive' } }));
  const browser = await openChromium();
  const agent = await Program.open({ args: ['--notebook', 'local', '--config', config] });
  try {
    const code = [
      'from generated.mcp.shop import add, remove',
      'await add()',
      'for n in range(3):',
      '    try: print("made", await remove(n=n))',
      '    except Exception as error: print(error.code)',
    ];
    await agent.callTool('add_code_cell', { cellIndex: 0, language: 'python', code: code.join('\n') });
    const page = await browser.newPage();
    const opened = (await agent.callTool('open_notebook_window')) as { result: { content: [{ text: string }] } };
    await page.goto(windowUrlIn(opened.result.content[0].text));
    await page.getByRole('button', { name: 'Run cell 1' }).click();
    const question = page.getByRole('form', { name: 'shop' });
    await question.getByText('"n": 0').waitFor();
    await question.getByText('Tool: "remove"').waitFor();
    await question.getByRole('button', { name: 'Decline' }).click();
    await question.getByText('"n": 1').waitFor();
    await question.getByRole('button', { name: 'Send' }).click();
    await question.getByText('"n": 2').waitFor();
    await question.getByRole('combobox').selectOption({ label: 'This tool, in this session' });
    await question.getByRole('button', { name: 'Send' }).click();
    const output = page.locator('.stream-output');
    await output.getByText(/made[^]*made/).waitFor();
    expect(await output.allTextContents()).toEqual([expect.stringMatching(/^not_approved\nmade .*\nmade /)]);
    const lines = readFileSync(calls, 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      ['add', {}],
      ['remove', { n: 1 }],
      ['remove', { n: 2 }],
    ]);
  } finally {
    await browser.close();
    await agent.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
