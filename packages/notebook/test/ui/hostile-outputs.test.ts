import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import type { NotebookHost } from '../../src/host/notebook-host.js';
import type { Hello } from '../../src/viewer/protocol.js';
import { openWindow } from '../host/support/window.js';
import { Stage } from './support/browser.js';
import { type Hostile, hostileContent, hostileKinds } from './support/hostile-outputs.js';
import { changedWhenLive, type LiveWay, liveWays, show, toHostileFile } from './support/hostile-ways.js';
import { areTextsThere, type Look, lookAt, startWatching, tasksOf } from './support/look.js';

const content = hostileContent();

const fromFile = { name: 'a file that is opened' };

/**
 * From a file, all of it is drawn, kind by kind; of texts that are put out a tenth, since what lays them out is what lays out text cells. The
 * other ways end in the same cells, which is tested here: of them a tenth is drawn, and what is no such cell. The core draws a sample of a
 * file, spread over all kinds.
 */
const kinds = Object.entries(hostileKinds());
const isTenth = (_: Hostile, index: number) => index % 10 === 0;
const sample = content.filter((each, index) => isTenth(each, index) || changedWhenLive.includes(each.name));
const portions = [
  { way: fromFile, what: 'a spread sample of it', vectors: content.filter((_, index) => index % 80 === 0), tags: ['P-108', 'P-195'] },
  ...kinds.map(([what, all]) => ({
    way: fromFile,
    what,
    vectors: what === 'texts put out' ? all.filter(isTenth) : all,
    tags: ['deep', 'P-108', 'P-195'],
  })),
  ...liveWays.map((way) => ({ way, what: 'a sample of it', vectors: sample, tags: ['deep', 'P-108', 'P-195'] })),
];

describe('hostile content', () => {
  const stage = new Stage();
  const folders: string[] = [];
  afterEach(() => stage.clear());
  afterAll(async () => {
    await stage.close();
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  });

  /** A notebook into which it came in one of the ways. */
  async function openNotebook(way: typeof fromFile | LiveWay, vectors: readonly Hostile[]): Promise<NotebookHost> {
    const host = await stage.realHost({ file: 'add' in way ? undefined : await writeHostileFile(vectors), scenes: { show } });
    await host.session.start();
    if ('add' in way) for (const [index, each] of vectors.entries()) await way.add(host, each, index);
    expect(host.session.document.cells.length).toBe(vectors.length);
    return host;
  }

  async function writeHostileFile(vectors: readonly Hostile[]): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'notebook-hostile-'));
    folders.push(folder);
    const file = join(folder, 'analysis.ipynb');
    await writeFile(file, toHostileFile(vectors));
    return file;
  }

  it('comes to windows in the same cells, from whatever it came into the notebook', {
    timeout: 300_000,
    tags: ['deep', 'P-621'],
  }, async () => {
    const opened = await greetingOf(await openNotebook(fromFile, content));
    for (const way of liveWays) {
      const made = await greetingOf(await openNotebook(way, content));
      const others = content.flatMap(({ name }, index) => (isDeepStrictEqual(made.cells[index], opened.cells[index]) ? [] : [name]));
      expect(others, way.name).toEqual(changedWhenLive);
      expect(made.around, way.name).toEqual(opened.around);
    }
  });

  for (const { way, what, vectors, tags } of portions)
    it(`cells from ${way.name}, ${what}, take nothing away from the person`, { ...drivesBrowser, timeout: 300_000, tags }, async ({
      skip,
    }) => {
      skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set');
      const host = await openNotebook(way, vectors);
      let left: string | undefined;
      host.setAgents([{ id: 'a', name: 'Claude' }]);
      host.onDisconnectAgent((id) => {
        left = id;
        host.setAgents([]);
      });
      const { page, faults } = await stage.window(host, { viewport: { width: 1024, height: 768 } }, startWatching);
      const requested: string[] = [];
      page.on('request', (request) => requested.push(request.url()));
      const looks = await lookThrough(page, vectors);
      report(`${way.name}, ${what}`, looks, await page.evaluate(tasksOf));
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
async function lookThrough(page: Page, vectors: readonly Hostile[]): Promise<(Look & { name: string })[]> {
  await page.locator('.cell.selected').first().waitFor();
  const looks: (Look & { name: string })[] = [];
  for (const [index, { name }] of vectors.entries()) {
    if (index > 0) await page.keyboard.press('j');
    looks.push({ name, ...(await look(page, { index, mayScroll: false })) });
  }
  // Texts come when they are laid out, some of them not at all: once more, when there is nothing to wait for.
  await page.waitForFunction(areTextsThere, undefined, { timeout: 200_000 });
  for (const [index, each] of vectors.entries()) {
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
    // Nothing tells that it never draws.
    const drawn = await Promise.race([frame, delay(10_000, 'does not draw', { ref: false })]);
    throw new Error(`${error.message} A blank page of the same browser ${drawn}.`, { cause: error });
  });
}

/** Times are printed, not judged: how long a task takes is the machine's affair, how much it may do is bounded and tested. */
function report(way: string, looks: readonly (Look & { name: string })[], tasks: readonly { at: number; ms: number }[]): void {
  const longest = tasks.toSorted((a, b) => b.ms - a.ms).slice(0, 5);
  const cellAt = (at: number) => looks.findLast((look) => look.at <= at)?.name ?? 'the beginning';
  const lines = [
    `${way}: ${new Set(looks.map(({ name }) => name)).size} vectors, ${tasks.filter(({ ms }) => ms > 1000).length} tasks over 1 s, the longest:`,
    ...longest.map(({ ms, at }) => `  ${ms} ms at "${cellAt(at)}"`),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** What a window begins with: its cells, and all around them, without what only says who made them, and when. */
async function greetingOf(host: NotebookHost): Promise<{ cells: unknown[]; around: unknown }> {
  const { socket, hello } = await openWindow(host.url);
  socket.terminate();
  // They differ by program and by file; what ran here is drawn without a word of a person.
  const { document, journal, durations, now, file, life, path, ranHere, ...around } = hello as Hello;
  const { cells, version, ...rest } = document;
  return { cells: cells.map(({ id, changedBy, executionCount, ...cell }) => cell), around: { ...around, document: rest } };
}
