// @module-tag deep
// @module-tag P-191

/** Walks all of JavaScript that Python can reach, and looks for what belongs to the host. */
import { copyFileSync, cpSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findPyodide } from '../../src/kernel/pyodide-files.js';
import type { KernelHarness } from './support/kernel-harness.js';
import { openNodeHarness } from './support/node-harness.js';
import { runCell } from './support/run-cell.js';

interface CrawlReport {
  visited: number;
  objects: number;
  functions: number;
  frozen: number;
  reached: string[];
  mutable: string[];
}

const support = fileURLToPath(new URL('./support/', import.meta.url));
const crawler = readFileSync(join(support, 'crawler.py'), 'utf8');
let folder: string;

beforeAll(() => {
  // Node compares real paths with what it was permitted to read.
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-crawler-')));
  cpSync(fileURLToPath(findPyodide()), folder, { recursive: true, dereference: true });
  copyFileSync(join(folder, 'pyodide.mjs'), join(folder, 'real-pyodide.mjs'));
  copyFileSync(join(support, 'crawling-pyodide.mjs'), join(folder, 'pyodide.mjs'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function crawl(harness: KernelHarness, withInsides: boolean): Promise<CrawlReport> {
  const source = `ORIGIN = None\nINSIDES = ${withInsides ? 'True' : 'False'}\n${crawler}\nprint(json.dumps(report))`;
  const { stdout, error } = await runCell(harness, source);
  expect(error?.traceback.join('\n')).toBeUndefined();
  return JSON.parse(stdout) as CrawlReport;
}

const openAll = `import os, urllib.request, notebridge_kernel.installer
kept = [open("package.json"), os.listdir("."), os.scandir(".")]
try:
    urllib.request.urlopen("http://127.0.0.1:1/")
except OSError as error:
    kept.append(error)`;

/**
 * What may change, though a function is in it: nobody but Pyodide and Python uses it. The host hands texts, numbers and bytes to
 * Pyodide's functions and takes such from them, and no function of its own goes that way but those that Python has anyway.
 */
const pythonsOwn = [
  // Pyodide's classes of proxies for what Python passes to JavaScript, and its errors.
  /^(made|error|tuple|answer)\b.*(__proto__|destroy|prototype|Symbol\(pyproxy)/,
  // What this very test made of Python's functions, or was answered: its own objects.
  /^(made|error|answer)( of fetch)?( \d+)?(\.reason)?$/,
  /^made \d+\.(isSignal|abort|timeout|any)$/,
  // Each asking makes a new one, which does nothing.
  /constructor\.prepareStackTrace$/,
  // Takes a callback to a later turn of the event loop.
  /scheduleCallback(\.prototype)?$/,
  // The stand-in for `js` of this test.
  /^(__main__\.|\w+ )?js(\.crawl.*)?$/,
];

describe.each([{ services: 'nothing of the host' }, { services: 'folder and network' }])(
  'all that Python can reach, with $services',
  ({ services }) => {
    let harness: KernelHarness;
    beforeAll(async () => {
      const given = services === 'folder and network' ? { folder: { folder }, allowNet: ['example.org'] } : {};
      harness = await openNodeHarness({ ...given, sandbox: 'off', files: { indexUrl: pathToFileURL(folder + sep) } });
      await harness.kernel.start();
      // What they have opened and fetched is there to be found.
      if ('folder' in given) expect((await runCell(harness, openAll)).error?.evalue).toBeUndefined();
    });
    afterAll(() => harness?.close());

    test('is frozen or its own, and holds nothing of the host', async () => {
      const { reached, mutable, ...counts } = await crawl(harness, false);
      console.log(`The crawler visited ${JSON.stringify(counts)} on Node ${process.version}`);
      expect(counts.visited).toBeGreaterThan(500);
      expect(reached).toEqual([]);
      expect(mutable.filter((path) => !pythonsOwn.some((pattern) => pattern.test(path)))).toEqual([]);
    });

    test('together with all of Pyodide, as if a memory fault had given it that, holds nothing of the host', async () => {
      const { reached, mutable: _mutable, ...counts } = await crawl(harness, true);
      console.log(`With Pyodide's insides it visited ${JSON.stringify(counts)} on Node ${process.version}`);
      expect(counts.visited).toBeGreaterThan(20_000);
      expect(reached).toEqual([]);
    }, 60_000);
  },
);

describe('without the runtime layer', () => {
  test('the same walk finds the host: it looks in the right places', async () => {
    const harness = await openNodeHarness({ sandbox: 'off', hardening: false, files: { indexUrl: pathToFileURL(folder + sep) } });
    try {
      await harness.kernel.start();
      const { reached } = await crawl(harness, false);
      expect(reached.join('\n')).toMatch(/fetch by/);
      expect(reached.join('\n')).toMatch(/events\.EventEmitter|Buffer by|MessagePort by/);
    } finally {
      await harness.close();
    }
  }, 60_000);
});
