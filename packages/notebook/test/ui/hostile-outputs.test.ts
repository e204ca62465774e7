import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/drives-browser.mjs';
import type { NotebookHost } from '../../src/host/notebook-host.js';
import type { Output } from '../../src/kernel/kernel.js';
import { findChromium, Stage } from './support/browser.js';
import { type Hostile, hostileContent, rich } from './support/hostile-outputs.js';
import { areTextsThere, type Look, lookAt, startWatching, tasksOf } from './support/look.js';

const content = hostileContent();

/** How what is hostile comes in: each fills a notebook with all of it, one cell after the other. */
const ways: readonly (readonly [string, (host: NotebookHost, outputsOf: (each: Hostile) => string) => Promise<void>])[] = [
  ['a file that is opened', async () => {}],
  [
    'cells that run',
    async ({ session }, codeOf) => {
      for (const each of content) await runCell(session, 'code' in each ? each.code : codeOf(each));
    },
  ],
  [
    'an agent',
    async (host, codeOf) => {
      for (const [index, each] of content.entries()) await byAgent(host, each, index, codeOf(each));
    },
  ],
];

describe('hostile content', () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  const stage = new Stage();
  const folders: string[] = [];
  afterEach(() => stage.clear());
  afterAll(async () => {
    await stage.close();
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  });

  for (const [way, fill] of ways)
    it(`from ${way} takes nothing away from the person`, { ...drivesBrowser, timeout: 300_000 }, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'notebook-hostile-'));
      folders.push(folder);
      const file = join(folder, 'analysis.ipynb');
      if (way === ways[0]?.[0]) await writeFile(file, toFile());
      const host = await stage.realHost({ file, scenes: { show: (index) => outputsOf(content[Number(index)]) } });
      let left: string | undefined;
      host.setAgents([{ id: 'a', name: 'Claude' }]);
      host.onDisconnectAgent((id) => {
        left = id;
        host.setAgents([]);
      });
      await fill(host, (each) => `show ${content.indexOf(each)}`);
      expect(host.session.document.cells.length).toBe(content.length);
      const { page, faults } = await stage.window(host, { viewport: { width: 1024, height: 768 } }, startWatching);
      const requested: string[] = [];
      page.on('request', (request) => requested.push(request.url()));
      const looks = await lookThrough(page);
      report(way, looks, await page.evaluate(tasksOf));
      expect(
        looks.filter(({ isThere }) => !isThere).map(({ name }) => name),
        'cells without anything to see',
      ).toEqual([]);
      expect(
        looks.flatMap(({ name, covered }) => (covered ? [`${name}: ${covered}`] : [])),
        'covered',
      ).toEqual([]);
      expect(
        looks.filter(({ hasFocus }) => !hasFocus).map(({ name }) => name),
        'keys that were not heard',
      ).toEqual([]);
      expect(
        requested.filter((url) => !/^(?:data:|ws:)|\/(?:markdown\.js|katex[\w-]*\.(?:js|css)|KaTeX_[\w-]+\.woff2)$/.test(url)),
      ).toEqual([]);
      // An image that is none is said to be so in the console.
      expect(faults.filter((fault) => !fault.includes('ERR_INVALID_URL'))).toEqual([]);
      expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
      await page.getByRole('button', { name: 'Disconnect Claude' }).click();
      await expect.poll(() => left).toBe('a');
    });
});

/** Goes through the cells by key, as a person does, and looks at each. */
async function lookThrough(page: Page): Promise<(Look & { name: string })[]> {
  await page.locator('.cell.selected').first().waitFor();
  const looks: (Look & { name: string })[] = [];
  for (const [index, { name }] of content.entries()) {
    if (index > 0) await page.keyboard.press('j');
    looks.push({ name, ...(await look(page, { index, mayScroll: false })) });
  }
  // Texts come when they are laid out, some of them not at all: once more, when there is nothing to wait for.
  await page.waitForFunction(areTextsThere, undefined, { timeout: 200_000 });
  for (const [index, each] of content.entries()) {
    if (!('markdown' in each)) continue;
    looks.push({ name: each.name, ...(await look(page, { index, mayScroll: true })), hasFocus: true });
  }
  return looks;
}

/** A page that is not drawn is our fault if the browser draws another one, and the browser's if it does not. */
async function look(page: Page, where: { index: number; mayScroll: boolean }): Promise<Look> {
  return page.evaluate(lookAt, where).catch(async (error: Error) => {
    const blank = await page.context().newPage();
    const frame = blank.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve))).then(() => 'draws');
    const drawn = await Promise.race([frame, delay(10_000, 'does not draw', { ref: false })]);
    throw new Error(`${error.message} A blank page of the same browser ${drawn}.`, { cause: error });
  });
}

/** Times are printed, not judged: how long a task takes is the machine's affair, how much it may do is bounded and tested. */
function report(way: string, looks: readonly (Look & { name: string })[], tasks: readonly { at: number; ms: number }[]): void {
  const longest = tasks.toSorted((a, b) => b.ms - a.ms).slice(0, 5);
  const cellAt = (at: number) => looks.findLast((look) => look.at <= at)?.name ?? 'the beginning';
  const lines = [
    `${way}: ${content.length} vectors, ${tasks.filter(({ ms }) => ms > 1000).length} tasks over 1 s, the longest:`,
    ...longest.map(({ ms, at }) => `  ${ms} ms at "${cellAt(at)}"`),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

function outputsOf(each: Hostile | undefined): readonly Output[] {
  if (!each || 'code' in each) return [];
  return 'outputs' in each ? each.outputs : [rich({ 'text/markdown': each.markdown })];
}

function toFile(): string {
  const cells = content.map((each, index) => {
    const common = { id: `cell-${index}`, metadata: {} };
    if ('markdown' in each) return { ...common, cell_type: 'markdown', source: each.markdown };
    return {
      ...common,
      cell_type: 'code',
      source: 'code' in each ? each.code : `show ${index}`,
      execution_count: 1,
      outputs: outputsOf(each),
    };
  });
  return JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells });
}

async function runCell(session: NotebookHost['session'], source: string): Promise<void> {
  const by = { kind: 'person', name: 'You' } as const;
  const { id } = session.document.insert(session.document.cells.length, { type: 'code', source }, { by });
  if (source.startsWith('show ')) await session.run(id, { by });
}

async function byAgent(host: NotebookHost, each: Hostile, cellIndex: number, code: string): Promise<void> {
  const [name, args] =
    'markdown' in each
      ? ['add_text_cell', { cellIndex, content: each.markdown }]
      : 'code' in each
        ? ['add_code_cell', { cellIndex, language: 'python', code: each.code }]
        : ['run_code', { code }];
  const result = await host.callTool(name as string, args, { agent: 'Claude' });
  if (result.isError) throw new Error(`${each.name}: ${JSON.stringify(result.content).slice(0, 500)}`);
}
