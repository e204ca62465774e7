// @module-tag deep
// @module-tag P-193

import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { describeLayer, type Layer } from '../../src/kernel/layers.js';
import { Stage } from './support/browser.js';

const layers: Layer[] = [
  { name: 'operating system', active: false, text: 'bubblewrap is not installed' },
  { name: 'neighbours', active: true, text: 'no process of ours opens a debugger for a signal' },
];

describe('the layers around the code of the notebook, in the window', () => {
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  it('are told at the name of the kernel, in the words of everywhere else, as soon as they are known', drivesBrowser, async ({ skip }) => {
    skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set');
    const host = await stage.host({ cells: [] });
    const { page, faults } = await stage.window(host);
    const kernel = page.locator('.kernel-text');
    expect(await kernel.getAttribute('title')).toBe('');
    host.kernel.layers = layers;
    await host.session.restart({ by: { kind: 'person', name: 'You' } });
    await page.locator('.kernel-text[title]:not([title=""])').waitFor();
    expect(await kernel.getAttribute('title')).toBe(layers.map(describeLayer).join('\n'));
    // For those who cannot point at it.
    expect(await kernel.textContent()).toContain('operating system: not active (bubblewrap is not installed); neighbours: active (');
    expect(faults).toEqual([]);
  });
});
