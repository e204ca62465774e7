// Helm, for tests: that of the PATH, or built from Go's modules, once, into node_modules/.cache. That takes minutes.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const version = 'v3.22.0';
const cache = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules/.cache/notebridge');
const folder = join(cache, `helm-${version}`);
const name = process.platform === 'win32' ? 'helm.exe' : 'helm';
/** For a build that hangs. On a machine with much else to do one has taken more than ten minutes. */
const timeout = 60 * 60_000;

/**
 * Where the program is, or why there is none. Throws with what Go said when it cannot be built.
 * @param {{ mayBuild: boolean }} options
 * @returns {Promise<{ program: string, why: undefined } | { program: undefined, why: string }>}
 */
export async function findHelm({ mayBuild }) {
  if (existsSync(join(folder, name))) return { program: join(folder, name), why: undefined };
  if (await answers('helm', 'version')) return { program: 'helm', why: undefined };
  if (!(await answers('go', 'version'))) return { program: undefined, why: 'there is neither Helm nor Go to build it' };
  if (!mayBuild) return { program: undefined, why: 'Helm takes minutes to build: `npm test -- chart` does' };
  await build();
  return { program: join(folder, name), why: undefined };
}

/** @param {string} command @param {string} word */
function answers(command, word) {
  return run(command, [word]).then(
    () => true,
    () => false,
  );
}

async function build() {
  process.stderr.write(`tests: building Helm ${version}; this takes minutes\n`);
  // Made aside: what a run that was ended has left half done is never used.
  const making = `${folder}-${process.pid}`;
  mkdirSync(join(making, 'tmp'), { recursive: true });
  try {
    // Nothing stays in the folders of the user. Modules are read-only otherwise, and could not be removed.
    const places = { GOBIN: join(making, 'bin'), GOCACHE: join(making, 'cache'), GOMODCACHE: join(making, 'modules') };
    const flags = { GOFLAGS: `${process.env.GOFLAGS ?? ''} -modcacherw`.trim(), GOWORK: 'off', TMPDIR: join(making, 'tmp') };
    const args = ['install', '-ldflags=-s -w', `helm.sh/helm/v3/cmd/helm@${version}`];
    await run('go', args, { cwd: making, env: { ...process.env, ...places, ...flags }, timeout, maxBuffer: 64 * 1024 * 1024 });
    if (!existsSync(folder)) renameSync(join(making, 'bin'), folder);
  } catch (error) {
    // Another run may have built it meanwhile.
    if (existsSync(join(folder, name))) return;
    if (error instanceof Error && 'killed' in error && error.killed === true)
      throw new Error(`Helm was not built within ${timeout / 60_000} minutes.`, { cause: error });
    throw error;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}
