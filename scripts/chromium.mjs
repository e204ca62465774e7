// Finds the Chromium or Chrome that the browser tests drive; on Debian and Ubuntu, as root, it can install one.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run, StepFailed } from './run.mjs';

const commands = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const applications = ['Google Chrome', 'Chromium'].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`);

/** The path of a browser that starts, or undefined. */
export async function findChromium() {
  const named = process.env.CHROMIUM_PATH;
  if (named && !existsSync(named)) {
    throw new StepFailed(`CHROMIUM_PATH is "${named}", and there is no such file. Correct it, or unset it to have one looked for.`);
  }
  if (named) return named;
  const folders = new Set([...(process.env.PATH ?? '').split(delimiter), '/usr/bin']);
  const candidates = [...folders].flatMap((folder) => commands.map((command) => join(folder, command)));
  for (const path of [...candidates, ...applications, await playwrightChromium()]) {
    if (path && existsSync(path) && (await starts(path))) return path;
  }
  return undefined;
}

export const chromiumAdvice = `The browser tests need Chromium or Chrome, and none was found. Install one:
  Debian:         sudo apt-get install chromium fonts-liberation
  macOS:          brew install --cask google-chrome
  anywhere:       npx playwright-core install --with-deps chromium
Or name the one you have:     CHROMIUM_PATH=/path/to/chrome npm test
Or skip the browser tests:    NOTEBRIDGE_SKIP_BROWSER=1 npm test`;

async function playwrightChromium() {
  try {
    return (await import('playwright-core')).chromium.executablePath();
  } catch {
    return undefined;
  }
}

/** Ubuntu has a command of that name that only says which snap to install. */
async function starts(path) {
  return process.platform !== 'linux' || (await run(path, ['--version'], { timeoutMs: 20_000 })).code === 0;
}
