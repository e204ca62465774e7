// Makes the picture of the README: `node scripts/screenshot.mjs`. A real agent works in the real notebook, seen in a real Chromium.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { findChromium } from './chromium.mjs';

const program = fileURLToPath(new URL('../packages/notebridge/bin/notebridge.js', import.meta.url));
const picture = fileURLToPath(new URL('../docs/images/notebook.png', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'notebridge-screenshot-'));

const child = spawn(process.execPath, [program, 'notebook', 'squares.ipynb', '--headless'], { cwd: folder, stdio: 'pipe' });
const url = addressIn(child.stderr);
const answers = new Map();
createInterface({ input: child.stdout }).on('line', (line) => {
  const message = JSON.parse(line);
  answers.get(message.id)?.(message.result);
});

await request('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'claude-code', title: 'Claude Code', version: '1' },
});
const browser = await chromium.launch({ executablePath: await findChromium(), args: ['--no-sandbox', '--disable-gpu'] });
try {
  const page = await browser.newPage({ viewport: { width: 1240, height: 880 }, deviceScaleFactor: 1.5 });
  await page.goto(await url);
  await call('add_text_cell', { cellIndex: 0, content: '# Squares\n\nHow fast they grow, and what they add up to.' });
  await call('run_code', { code: 'for n in range(1, 4):\n    print(f"{n} squared is {n * n}")' });
  await call('run_code', {
    code: 'from IPython.display import SVG\n\nbars = "".join(\n    f\'<rect x="{34 * i}" y="{100 - i * i}" width="28" height="{i * i}" fill="#3b6fd4"/>\'\n    for i in range(1, 11)\n)\nSVG(f\'<svg xmlns="http://www.w3.org/2000/svg" width="374" height="100">{bars}</svg>\')',
  });
  await call('run_code', { code: 'sum(n * n for n in range(101)) / 0' });
  await page.getByText('ZeroDivisionError').first().waitFor();
  await page.getByText('Saved', { exact: true }).waitFor();
  await page.evaluate(() => scrollTo(0, 0));
  await page.screenshot({ path: picture });
} finally {
  await browser.close();
  child.stdin.end();
  await once(child, 'exit');
  rmSync(folder, { recursive: true, force: true });
}

function request(method, params) {
  const id = answers.size + 1;
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  return new Promise((resolve) => answers.set(id, resolve));
}

function call(name, args) {
  return request('tools/call', { name, arguments: args });
}

/** The address, from the file that the program names on stderr. */
async function addressIn(stream) {
  for await (const line of createInterface({ input: stream })) {
    const [, file] = /in "([^"]+\.url)"/.exec(line) ?? [];
    if (file !== undefined) return readFileSync(file, 'utf8').trim();
  }
  throw new Error('The notebook ended before it said its address.');
}
