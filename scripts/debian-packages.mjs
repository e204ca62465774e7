// What tests need of the system: Debian and Ubuntu install it, as root. Elsewhere it is said, and the tests that need it are skipped.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { clockLibrary } from './clock-library.mjs';
import { run } from './run.mjs';

/** Each with how it is seen that it is there, and what to do where it cannot be installed. */
const wanted = [
  {
    name: 'bubblewrap',
    isThere: () => (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'bwrap'))),
    advice: 'The tests of the sandbox need bubblewrap: apt install bubblewrap, or dnf, or apk add.',
  },
  {
    name: 'libfaketime',
    isThere: () => clockLibrary() !== undefined,
    advice: 'The tests that set the clock need libfaketime: apt install libfaketime, or dnf.',
  },
];

/** The browser, and the fonts by which pages are measured and drawn: it would only recommend them. */
export const browserPackages = ['chromium', 'fonts-liberation'];

export function missingPackages() {
  return process.platform === 'linux' ? wanted.filter(({ isThere }) => !isThere()) : [];
}

export function canInstall() {
  return existsSync('/etc/debian_version') && process.getuid?.() === 0;
}

/** Answers like `run`; only where `canInstall`. What is only recommended stays away: for Chromium, 142 of 417 packages. */
export async function installPackages(names, { timeoutMs = 5 * 60_000 } = {}) {
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  const update = await run('apt-get', ['update'], { env });
  if (update.code !== 0) return update;
  return run('apt-get', ['install', '-y', '--no-install-recommends', ...names], { env, timeoutMs });
}
