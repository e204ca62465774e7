// The Chromium that tests and examples drive, and how they start it.
import { accessSync, constants } from 'node:fs';

const usualPaths = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** Whatever is not on this machine is out of reach: what needs the network fails. */
export const chromiumArgs = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
];

/**
 * The Chromium to test with: `CHROMIUM_PATH`, else one in a usual place.
 * @returns {string | undefined}
 */
export function findChromium() {
  const paths = process.env.CHROMIUM_PATH ? [process.env.CHROMIUM_PATH] : usualPaths;
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
