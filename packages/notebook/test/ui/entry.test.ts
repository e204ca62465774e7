// @module-tag deep
// @module-tag P-197
// @module-tag P-199

import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { Stage } from './support/browser.js';

describe('coming in', () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  it(
    'an address from the history opens nothing, says why and what to do; the window that it opened stays good',
    drivesBrowser,
    async () => {
      const host = await stage.host({ cells: [{ source: 'x' }] });
      const { url } = host;
      const { page } = await stage.window({ url });
      await page.reload();
      await page.locator('.cell').waitFor();
      // The same tab is in already.
      await page.goto(url);
      await page.locator('.cell').waitFor();
      const other = await page.context().newPage();
      await other.goto(url);
      await other.getByText('This link was used already').waitFor();
      await other.getByText('ask your agent to open the notebook window').waitFor();
      await other.goto(new URL('/#token=made-up', url).href);
      await other.getByText('not of the notebook that is open now').waitFor();
      await other.goto(host.url);
      await other.locator('.cell').waitFor();
      await expect.poll(() => host.windows).toBe(2);
      expect(await other.evaluate(() => location.href + document.referrer)).not.toContain('token');
    },
  );

  it('says when the host has ended, and offers nothing that would not be heard', drivesBrowser, async () => {
    const host = await stage.realHost({ file: undefined, scenes: {} });
    host.setAgents([{ id: 'a', name: 'Claude' }]);
    const by = { kind: 'person', name: 'You' } as const;
    host.session.document.insert(0, { type: 'code', source: 'print x' }, { by });
    const { page } = await stage.window(host);
    await page.locator('.cm-content').waitFor();
    await host.close();
    await page.getByRole('alert').filter({ hasText: 'The notebook was closed' }).waitFor();
    expect(await page.locator('.kernel-text').innerText()).toContain('Closed');
    await page.getByTitle('Was connected: ').waitFor();
    for (const name of ['Disconnect Claude', 'Run cell 1', 'Run all cells', 'Restart kernel', 'Interrupt kernel', 'Add a code cell here']) {
      const button = page.getByRole('button', { name });
      expect(await button.isDisabled(), name).toBe(true);
      expect(await button.getAttribute('title'), name).toBe('The notebook was closed');
    }
    expect(await page.getByRole('switch').isDisabled()).toBe(true);
  });
});
