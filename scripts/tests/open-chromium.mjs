// The Chromium that tests share.
/// <reference path="./provided.d.ts" />
import { chromium } from 'playwright-core';
import { inject } from 'vitest';

/**
 * The Chromium of the whole run (`shared-chromium.mjs`). Closing it closes the contexts that were made by this connection.
 * @returns {Promise<import('playwright-core').Browser>}
 */
export function openChromium() {
  const endpoint = inject('chromium');
  if (endpoint === undefined) throw new Error('There is no shared Chromium here: the file is not of the project "browser".');
  return chromium.connect(endpoint);
}
