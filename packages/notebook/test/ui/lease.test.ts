// @module-tag P-299

import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import type { LeaseState } from '../../src/viewer/protocol.js';
import { Stage } from './support/browser.js';
import { realisticCells } from './support/realistic.js';

const since = Date.UTC(2026, 5, 1, 12, 31);
const claude = { id: 'a.1', name: 'Claude Code' };
const codex = { id: 'b.1', name: 'Codex' };
const free: LeaseState = { holder: null, asking: [], barred: [] };
const held: LeaseState = { ...free, holder: { ...claude, since } };
const asked: LeaseState = { ...held, asking: [{ questionId: 7, ...codex, reason: 'the plot needs another scale' }] };
const noBrowser = 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set';
/** Pictures for people: a folder for them. */
const folder = process.env.NOTEBOOK_SHOTS;

describe('which agent holds the notebook, in the window', () => {
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  it('shows who holds it, takes it away, and lets it write again', drivesBrowser, async ({ skip }) => {
    skip(!findChromium(), noBrowser);
    const host = await stage.host({ cells: [{ source: 'print 1' }], agents: [claude, codex], lease: held });
    const { page, faults } = await stage.window(host);
    await page.getByRole('button', { name: 'Claude Code holds the notebook: take it away' }).click();
    await expect.poll(() => host.asked).toContainEqual({ do: 'setMayHold', agentId: claude.id, may: false });
    host.setLease({ ...free, barred: [claude.id] });
    await page.getByRole('button', { name: 'Claude Code reads only: let it write again' }).click();
    await expect.poll(() => host.asked).toContainEqual({ do: 'setMayHold', agentId: claude.id, may: true });
    host.setLease({ ...free, holder: { ...codex, since } });
    await page.getByRole('button', { name: 'Codex holds the notebook: take it away' }).waitFor();
    expect(await page.locator('.lease').count()).toBe(1);
    expect(faults).toEqual([]);
  });

  it('asks the person, says the answer to the host, and asks no more when it is settled elsewhere', {
    ...drivesBrowser,
    tags: ['deep'],
  }, async ({ skip }) => {
    skip(!findChromium(), noBrowser);
    const host = await stage.host({ cells: [], agents: [claude, codex], lease: asked });
    const { page, faults } = await stage.window(host);
    const banner = page.getByRole('alert').filter({ hasText: 'Codex asks to change and run this notebook' });
    const said = (await banner.innerText()).replace(/[\u2068\u2069]/g, '');
    expect(said).toContain('“the plot needs another scale”');
    expect(said).toMatch(/Now Claude Code holds it, since \d/);
    await banner.getByRole('button', { name: 'Hand it over' }).click();
    await expect.poll(() => host.asked).toContainEqual({ do: 'answerTakeOver', questionId: 7, yes: true });
    host.setLease({ ...asked, asking: [{ questionId: 8, ...codex }] });
    await banner.getByRole('button', { name: 'No' }).click();
    await expect.poll(() => host.asked).toContainEqual({ do: 'answerTakeOver', questionId: 8, yes: false });
    host.setLease({ ...free, holder: { ...codex, since } });
    await banner.waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
  });

  it('keeps apart two agents of one name, and what an agent says from what the window says', { ...drivesBrowser, tags: ['deep'] }, async ({
    skip,
  }) => {
    skip(!findChromium(), noBrowser);
    const second = { id: 'c.1', name: 'Claude Code' };
    const reason = `<img src=x onerror=alert(1)> ok” Notebridge: \u202Epress “Hand it over” ${'x'.repeat(500)}`;
    const lease = { ...held, asking: [{ questionId: 1, ...second, reason }] };
    const host = await stage.host({ cells: [], agents: [claude, second], lease });
    const { page, faults } = await stage.window(host, { viewport: { width: 360, height: 700 } });
    const said = await page.getByRole('alert').innerText();
    expect(said).toMatch(/^Claude Code \(2\) asks .*Now Claude Code holds it/s);
    expect([...said.matchAll(/[“”]/g)].map(([quote]) => quote)).toEqual(['“', '”']);
    expect(said).not.toContain('\u202E');
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    expect(faults).toEqual([]);
  });

  for (const width of [360, 1024, 1600])
    for (const [name, agents, lease] of [
      ['one agent', [claude], held],
      ['two agents', [claude, codex], held],
      ['asked', [claude, codex], asked],
      ['taken away', [claude, codex], { ...free, barred: [claude.id] }],
    ] as const)
      it(`looks right: ${name}, ${width}`, drivesBrowser, async ({ skip }) => {
        skip(!folder, 'pictures are for people to look at: name a folder in NOTEBOOK_SHOTS');
        const host = await stage.host({ cells: realisticCells(), agents, lease });
        const { page } = await stage.window(host, { viewport: { width, height: 500 } });
        await page.locator('.cell').first().waitFor();
        await page.screenshot({ path: join(folder ?? '', `lease-${name.replace(' ', '-')}-${width}.png`) });
      });
});
