// The notebook as a person meets it: how soon its page and its Python are there, and what a page with many outputs holds.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { findChromium } from '../../scripts/chromium.mjs';
import { endChild, home, startNode, within } from './children.mjs';
import { programFile } from './notebook-rates.mjs';
import { memoryMbOf } from './proc.mjs';
import { sleep } from './stats.mjs';

const outputCount = 200;

/** In ms, by run: the program to its address, the page to its first cell, the page to Python being idle. */
export async function measureWindows(runs) {
  const timesMs = { address: [], page: [], kernel: [] };
  await withBrowser(async (browser) => {
    for (let run = -1; run < runs; run++) {
      const startMs = performance.now();
      const notebook = await openNotebook(`window-${run}.ipynb`, 3);
      const addressMs = performance.now() - startMs;
      const context = await browser.newContext();
      const page = await context.newPage();
      const gotoMs = performance.now();
      await page.goto(notebook.url, { waitUntil: 'commit' });
      await page.locator('.cell').first().waitFor();
      const pageMs = performance.now() - gotoMs;
      await page.locator('.kernel[data-state=idle]').waitFor({ timeout: 60_000 });
      // The first one warms the browser and the disk.
      if (run >= 0) {
        timesMs.address.push(addressMs);
        timesMs.page.push(pageMs);
        timesMs.kernel.push(performance.now() - gotoMs);
      }
      await context.close();
      await notebook.end();
    }
  });
  return timesMs;
}

/** Memory of an empty page and of a window with 200 outputs, all of them seen: JavaScript's heap, and the page's process. */
export async function measureMemory(runs) {
  const memory = { empty: [], window: [] };
  for (let run = 0; run < runs; run++) {
    const notebook = await openNotebook(`memory-${run}.ipynb`, outputCount);
    memory.empty.push(await memoryOfPage('about:blank'));
    memory.window.push(await memoryOfPage(notebook.url));
    await notebook.end();
  }
  return memory;
}

/** In a browser of its own, where no other page's process can be taken for this one's. */
async function memoryOfPage(url) {
  let memory;
  await withBrowser(async (browser) => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(url);
    if (url !== 'about:blank') await seeAll(page);
    const session = await page.context().newCDPSession(page);
    await session.send('HeapProfiler.collectGarbage');
    await session.send('Performance.enable');
    const { metrics } = await session.send('Performance.getMetrics');
    const metric = (name) => metrics.find((found) => found.name === name)?.value;
    await sleep(1000);
    // Chromium keeps a spare process at hand, which is the smaller one.
    const found = (await renderersOf(browser)).map((pid) => memoryMbOf(pid)).sort((a, b) => b.rssMb - a.rssMb);
    memory = { heapMb: metric('JSHeapUsedSize') / 1024 / 1024, nodes: metric('Nodes'), ...found[0] };
  });
  return memory;
}

/** Scrolls through the notebook, so that whatever is only drawn when it is seen is drawn. */
async function seeAll(page) {
  const cells = page.locator('.cell');
  await cells.nth(outputCount - 1).waitFor({ state: 'attached' });
  for (let index = 0; index < outputCount; index += 4) await cells.nth(index).scrollIntoViewIfNeeded();
  const shown = await page.locator('.outputs:not([hidden])').count();
  if (shown !== outputCount) throw new Error(`${shown} of ${outputCount} outputs are in the window.`);
}

async function renderersOf(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  return processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
}

async function openNotebook(name, cells) {
  writeFileSync(join(home, name), `${JSON.stringify(toNotebook(cells), null, 1)}\n`);
  const child = startNode([programFile, 'notebook', name, '--headless']);
  const url = await within(
    30_000,
    'The address of the notebook',
    new Promise((resolve) => {
      child.stderr.on('data', () => {
        const [, file] = /in "([^"]+\.url)"/.exec(child.complaints) ?? [];
        if (file !== undefined) resolve(readFileSync(file, 'utf8').trim());
      });
    }),
  );
  child.stdout.resume();
  return { url, end: () => endChild(child, 10_000) };
}

/** Cells with one output each, of the kinds that people have. */
function toNotebook(count) {
  const kinds = [lines, table, plot, error];
  const cells = Array.from({ length: count }, (_, index) => ({
    cell_type: 'code',
    execution_count: index + 1,
    id: `cell-${index}`,
    metadata: {},
    outputs: [kinds[index % kinds.length](index)],
    source: [`show(${index})`],
  }));
  return { cells, metadata: {}, nbformat: 4, nbformat_minor: 5 };
}

function lines(index) {
  const text = Array.from({ length: 20 }, (_, line) => `epoch ${line}  loss=${(index + 1) / (line + 1)}\n`);
  return { name: 'stdout', output_type: 'stream', text };
}

function table(index) {
  const row = (line) =>
    `<tr><th>${line}</th>${Array.from({ length: 6 }, (_, column) => `<td>${index * line + column}</td>`).join('')}</tr>`;
  const html = `<table border="1" class="dataframe"><tbody>${Array.from({ length: 20 }, (_, line) => row(line)).join('')}</tbody></table>`;
  return { data: { 'text/html': [html], 'text/plain': ['a table'] }, metadata: {}, output_type: 'display_data' };
}

function plot(index) {
  const points = Array.from({ length: 200 }, (_, x) => `${x * 3},${100 + 90 * Math.sin((x * (index + 1)) / 40)}`).join(' ');
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="600" height="200"><polyline points="${points}" fill="none" stroke="blue"/></svg>`;
  return { data: { 'image/svg+xml': [svg], 'text/plain': ['a plot'] }, metadata: {}, output_type: 'display_data' };
}

function error(index) {
  const traceback = Array.from({ length: 12 }, (_, line) => `\u001b[32mcell ${index} line ${line}\u001b[39m, in f`);
  return { ename: 'ValueError', evalue: `no. ${index}`, output_type: 'error', traceback };
}

async function withBrowser(work) {
  const browser = await chromium.launch({
    executablePath: await findChromium(),
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
  });
  try {
    await work(browser);
  } finally {
    await browser.close();
  }
}
