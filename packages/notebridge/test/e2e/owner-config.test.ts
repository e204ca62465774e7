// @module-tag deep
// @module-tag P-502

import type { JsonObject } from '@notebridge/protocol/json';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { openChromium } from '../../../../scripts/tests/open-chromium.mjs';
import { ConsoleTab } from '../support/console-page.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

const executablePath = findChromium();
const notes = { command: process.execPath, args: [fixtureServer('changing.mjs')], lazy: true };

describe('the last edit of the config, for the owner of the hub', () => {
  let hub: ServedHub;
  beforeAll(async () => {
    hub = await ServedHub.start({ servers: { kept: notes, gone: notes, other: notes, told: notes }, args: ['--notebook', 'none'] });
  });
  afterAll(() => hub[Symbol.asyncDispose]());

  const ask = async (): Promise<JsonObject> =>
    (await (await hub.request('/api/v1/hub/config', { token: hub.ownerToken })).json()) as JsonObject;
  const until = async (fits: (state: JsonObject) => boolean): Promise<JsonObject> => {
    for (;;) {
      const now = await ask();
      if (fits(now)) return now;
    }
  };

  it('names servers that came, went, were restarted or changed, and keys that hold after a restart', async () => {
    expect(await ask()).toEqual({ file: hub.configFile, edit: null, refused: null });
    const servers = { kept: notes, other: { ...notes, env: { NEW: '1' } }, told: { ...notes, description: 'new' }, added: notes };
    hub.writeConfig(servers, { keepCalls: false });
    const { edit } = await until((state) => state.edit !== null);
    expect(edit).toMatchObject({ added: ['added'], removed: ['gone'], restarted: ['other'], changed: ['told'], late: ['keepCalls'] });
  });

  it('an edit that is refused is named with file and line, beside the one that holds', async () => {
    hub.writeConfig({ kept: { ...notes, lazy: 'soon' } });
    const { edit, refused } = await until((state) => state.refused !== null);
    expect(edit).toMatchObject({ added: ['added'] });
    expect(refused).toMatchObject({
      file: hub.configFile,
      faults: [{ line: 1, key: 'mcpServers.kept.lazy', found: expect.stringContaining('soon') }],
    });
  });

  it('is nobody else’s to see', async () => {
    const { token } = await hub.grant('--allow', '*:*');
    expect((await hub.request('/api/v1/hub/config', { token })).status).toBe(403);
  });

  describe.skipIf(executablePath === undefined)(`in the console${executablePath === undefined ? ': no Chromium here' : ''}`, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await openChromium();
    });
    afterAll(() => browser?.close());

    it('is shown as it is read', drivesBrowser, async () => {
      await using tab = await ConsoleTab.open(browser, hub);
      const { page } = tab;
      await tab.go('#/servers');
      const section = page.getByRole('region', { name: 'What the last edit of the config changed' });
      hub.writeConfig({ kept: { ...notes, lazy: 'soon' } });
      await section.getByText(`${hub.configFile}:1`).waitFor();
      await section.getByText('mcpServers.kept.lazy').waitFor();
      hub.writeConfig({ kept: notes, fresh: notes });
      await section.getByRole('link', { name: 'fresh' }).waitFor();
      await section.getByText('is not used since').waitFor({ state: 'detached' });
    });
  });
});
