// bubblewrap, which the sandbox of the built-in Python is made with: without it its tests are skipped.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run } from './run.mjs';

export const bubblewrapAdvice = 'The tests of the sandbox need bubblewrap: apt install bubblewrap, or dnf, or apk add.';

export function hasBubblewrap() {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'bwrap')));
}

/** Answers like `run`. On Debian and Ubuntu, as root. */
export async function installBubblewrap() {
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  const update = await run('apt-get', ['update'], { env });
  if (update.code !== 0) return update;
  return run('apt-get', ['install', '-y', 'bubblewrap'], { env, timeoutMs: 5 * 60_000 });
}
