// Go, for programs that tests need and that are built from its modules.
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export function hasGo() {
  return run('go', ['version']).then(
    () => true,
    () => false,
  );
}

/**
 * Runs Go in the folder `making`; `go install` puts its program into `bin` there, whose path is the answer. Throws with what Go said.
 * @param {string} making Nothing stays in the folders of the user: the caches of Go are in here, and go with it.
 * @param {readonly string[]} args
 * @param {number} timeoutMs On a machine with much else to do.
 */
export async function runGo(making, args, timeoutMs) {
  const [programs, temporary] = [join(making, 'bin'), join(making, 'tmp')];
  mkdirSync(temporary);
  const places = {
    GOBIN: programs,
    GOCACHE: join(making, 'cache'),
    GOMODCACHE: join(making, 'modules'),
    TMPDIR: temporary,
    TEMP: temporary,
    TMP: temporary,
  };
  // Modules are read-only otherwise, and could not be removed; and this checkout is not what is built.
  const flags = { GOFLAGS: `${process.env.GOFLAGS ?? ''} -modcacherw -buildvcs=false`.trim(), GOWORK: 'off' };
  const options = { cwd: making, env: { ...process.env, ...places, ...flags }, timeout: timeoutMs, maxBuffer: 64 * 1024 * 1024 };
  await run('go', args, options).catch((error) => {
    throw error.killed ? new Error(`go ${args.join(' ')} took more than ${timeoutMs / 60_000} minutes`, { cause: error }) : error;
  });
  return programs;
}
