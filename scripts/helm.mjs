// Helm, for tests: that of the PATH, or built from Go's modules, once, into .cache. That takes minutes.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hasGo, runGo } from './go.mjs';
import { cache, madeOnce } from './made-once.mjs';

const version = 'v3.22.0';
const builtName = `helm-${version}`;

/**
 * Where the program is, or why there is none. Throws with what Go said when it cannot be built.
 * @param {{ mayBuild: boolean }} options
 * @returns {Promise<{ program: string, why: undefined } | { program: undefined, why: string }>}
 */
export async function findHelm({ mayBuild }) {
  const built = join(cache, builtName, process.platform === 'win32' ? 'helm.exe' : 'helm');
  if (existsSync(built)) return { program: built, why: undefined };
  const isInstalled = await promisify(execFile)('helm', ['version']).then(
    () => true,
    () => false,
  );
  if (isInstalled) return { program: 'helm', why: undefined };
  if (!(await hasGo())) return { program: undefined, why: 'there is neither Helm nor Go to build it' };
  if (!mayBuild) return { program: undefined, why: 'Helm takes minutes to build: `npm test -- chart` does' };
  await madeOnce(builtName, build);
  return { program: built, why: undefined };
}

/** @param {string} making */
function build(making) {
  process.stderr.write(`tests: building Helm ${version}; this takes minutes\n`);
  // One that hangs is ended. On a machine with much else to do one has taken more than ten minutes.
  return runGo(making, ['install', '-ldflags=-s -w', `helm.sh/helm/v3/cmd/helm@${version}`], 60 * 60_000);
}
