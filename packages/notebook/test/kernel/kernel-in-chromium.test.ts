// @module-tag deep

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { describeKernel } from './kernel-behaviour.js';
import { describePyodide } from './pyodide-behaviour.js';
import { type BrowserHarness, openBrowserHarness } from './support/browser-harness.js';
import { runCell } from './support/run-cell.js';

// Skipped only where there is no Chromium; npm test names it in CHROMIUM_PATH.
// The tests of every kernel: here each of them drives a browser.
describe('the kernel in a Worker of Chromium', { ...drivesBrowser, timeout: 180_000 }, () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  describeKernel(openBrowserHarness, (get) => {
    describePyodide(get);

    test('everything came from our own server, and the page saw no error', () => {
      expect([...get().origins]).toEqual([new URL(get().page.url()).origin]);
      expect(get().pageErrors).toEqual([]);
    });

    test('Python reaches neither the page, nor its storage, nor new code', async () => {
      const { stdout } = await runCell(
        get(),
        [
          'import js',
          'for name in ("document", "window", "self", "postMessage", "indexedDB", "caches", "WebSocket", "XMLHttpRequest", "eval"):',
          '    print(hasattr(js, name))',
          'print(js.Object.constructor, js.Object.new().constructor.constructor)',
        ].join('\n'),
      );
      expect(stdout).toBe(`${'False\n'.repeat(9)}None None\n`);
      const { error } = await runCell(get(), 'from pyodide.http import pyfetch\nawait pyfetch(js.Object.name and "http://127.0.0.1:9/")');
      expect(error?.evalue).toMatch(/the notebook may only reach no server/);
    });
  });
});

describe('the kernel in a page that is not cross-origin isolated', { timeout: 180_000 }, () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  let harness: BrowserHarness;
  beforeAll(async () => {
    harness = await openBrowserHarness({ isolated: false });
    await harness.kernel.start();
  }, 180_000);
  afterAll(() => harness?.close());

  test('runs cells, ends those that wait, and restarts for those that compute', drivesBrowser, async () => {
    expect(await runCell(harness, 'import asyncio, time\nprint("a")\ntime.sleep(0.1)\n1 + 1')).toMatchObject({
      stdout: 'a\n',
      result: '2',
    });
    const waiting = await runCell(harness, 'await asyncio.sleep(100)', AbortSignal.timeout(100));
    expect(waiting).toMatchObject({ status: 'interrupted', error: { ename: 'KeyboardInterrupt' } });
    const computing = await runCell(harness, 'while True: pass', AbortSignal.timeout(1000));
    expect(computing).toMatchObject({ status: 'interrupted', error: { ename: 'KernelRestarted' } });
    expect(await runCell(harness, '1')).toMatchObject({ executionCount: 1, result: '1' });
  });

  test('cuts a flood, and says so', drivesBrowser, async () => {
    const { stdout, stderr } = await runCell(harness, 'print("x" * 20_000_000)');
    expect(stdout.length).toBeGreaterThan(16_000_000);
    expect(stdout.length).toBeLessThan(17_000_000);
    expect(stderr).toMatch(/^\[\d+ characters not shown: this page is not cross-origin isolated/);
  });
});
