// One Chromium for all test files of a run that need no options of their own. A file has contexts of its own in it, which end with its
// connection, also when the file dies.
import { chromium } from 'playwright-core';
import { chromiumArgs, findChromium } from './installed-chromium.mjs';

/** @param {import('vitest/node').TestProject} project */
export default async function setup(project) {
  const executablePath = findChromium();
  if (executablePath === undefined) return undefined;
  const server = await chromium.launchServer({ executablePath, args: chromiumArgs, host: '127.0.0.1' });
  project.provide('chromium', server.wsEndpoint());
  return () => server.close();
}
