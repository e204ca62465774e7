// A real nats-server, for tests: built from Go's modules, once, into node_modules/.cache.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const version = 'v2.15.3';
const cache = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules/.cache/notebridge');
const folder = join(cache, `nats-server-${version}`);
const program = join(folder, process.platform === 'win32' ? 'nats-server.exe' : 'nats-server');
/** On a machine with much else to do. */
const timeout = 15 * 60_000;

/**
 * A server of NATS with JetStream. Throws with what Go said when it cannot be built.
 * @returns {Promise<string | undefined>} The path of the program; undefined where there is no Go.
 */
export async function natsServer() {
  if (existsSync(program)) return program;
  const hasGo = await run('go', ['version']).then(
    () => true,
    () => false,
  );
  if (!hasGo) return undefined;
  await build();
  return program;
}

async function build() {
  process.stderr.write(`tests: building nats-server ${version}; this takes a minute or two\n`);
  // Made aside: what a run that was ended has left half done is never used.
  const making = `${folder}-${process.pid}`;
  const [built, temporary] = [join(making, 'built'), join(making, 'tmp')];
  mkdirSync(temporary, { recursive: true });
  mkdirSync(built);
  try {
    // Nothing stays in the folders of the user.
    const places = {
      GOBIN: built,
      GOCACHE: join(making, 'cache'),
      GOMODCACHE: join(making, 'modules'),
      TMPDIR: temporary,
      TEMP: temporary,
      TMP: temporary,
    };
    // Modules are read-only otherwise, and could not be removed.
    const flags = { GOFLAGS: `${process.env.GOFLAGS ?? ''} -modcacherw`.trim(), GOWORK: 'off' };
    const args = ['install', `github.com/nats-io/nats-server/v2@${version}`];
    await run('go', args, { cwd: making, env: { ...process.env, ...places, ...flags }, timeout, maxBuffer: 64 * 1024 * 1024 });
    takeInto(built);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

/** Another test file may have built it meanwhile, and be at work with it: then that one stays. @param {string} built */
function takeInto(built) {
  try {
    if (!existsSync(program)) renameSync(built, folder);
  } catch (error) {
    if (!existsSync(program)) throw error;
  }
}
