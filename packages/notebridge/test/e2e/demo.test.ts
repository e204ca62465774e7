import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);
const demo = fileURLToPath(new URL('../../../../examples/colab-demo.mjs', import.meta.url));
const notebookDemo = fileURLToPath(new URL('../../../../examples/notebook-demo.mjs', import.meta.url));

it('the demo runs to its end', async () => {
  const { stdout } = await run(process.execPath, [demo], { timeout: 60_000 });
  expect(stdout).toContain('Done: one agent session, one open, one reload, no restart.');
}, 90_000);

it('the demo runs without a browser too, and says so', async () => {
  // A browser that is not there, on a machine that may have one.
  const env = { ...process.env, CHROMIUM_PATH: '/nonexistent/chromium' };
  const { stdout } = await run(process.execPath, [demo], { timeout: 60_000, env });
  expect(stdout).toContain('Node (no Chromium found; the same page code)');
  expect(stdout).toContain('Done: one agent session');
}, 90_000);

it('the demo of the built-in notebook runs to its end', async () => {
  const { stdout } = await run(process.execPath, [notebookDemo], { timeout: 60_000 });
  expect(stdout).toContain('Done: a real Python kernel, a real file, nothing installed and no network.');
}, 90_000);
