import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const peers = JSON.parse(readFileSync(new URL('peers.json', import.meta.url), 'utf8'));
/** Which versions are compared. A newer one: change it in peers.json, and run the bench. */
export const versions = Object.fromEntries(Object.entries(peers).map(([name, { version }]) => [name, version]));
const folder = fileURLToPath(new URL('../.peers/', import.meta.url));

/** The program of a peer, installed from npm if this version is not there yet. Throws with the reason why it cannot be. */
export function installPeer(name, program) {
  // What a peer imports and does not declare is installed beside it.
  const { version, undeclared = {} } = peers[name];
  const place = join(folder, `${basename(name)}-${version}`);
  const file = join(place, 'node_modules', name, program);
  if (!existsSync(join(place, 'installed'))) {
    process.stderr.write(`bench: installing ${name} ${version}\n`);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'package.json'), '{ "private": true }\n');
    // Nothing of a peer runs before it is measured: no install scripts.
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--save-exact'];
    const packages = Object.entries({ [name]: version, ...undeclared }).map(([one, exact]) => `${one}@${exact}`);
    const { status, stderr, error } = spawnSync('npm', ['install', ...options, ...packages], {
      cwd: place,
      encoding: 'utf8',
      timeout: 120_000,
      shell: process.platform === 'win32',
    });
    if (status !== 0) throw new Error(`npm install ended with ${status ?? error?.message}: ${firstError(stderr)}`);
    writeFileSync(join(place, 'installed'), '');
  }
  if (!existsSync(file)) throw new Error(`${name} ${version} has no file ${program}.`);
  return file;
}

/** The program of a peer that cargo builds, if this version is not there yet. It takes minutes. Throws with the reason why it cannot be. */
export function buildPeer(name) {
  const { version, crate } = peers[name];
  const place = join(folder, `${crate}-crate-${version}`);
  const file = join(place, 'bin', process.platform === 'win32' ? `${crate}.exe` : crate);
  // cargo puts it there when all is built.
  if (existsSync(file)) return file;
  process.stderr.write(`bench: building ${name} ${version} with cargo, which takes minutes\n`);
  mkdirSync(place, { recursive: true });
  const { status, stderr, error } = spawnSync('cargo', ['install', '--locked', '--quiet', `${crate}@${version}`, '--root', place], {
    encoding: 'utf8',
    timeout: 60 * 60_000,
  });
  if (error?.code === 'ENOENT') throw new Error('it is built with cargo, which is not there.');
  if (status !== 0) throw new Error(`cargo install ended with ${status ?? error?.message}: ${firstError(stderr)}`);
  return file;
}

/** The installer's own words, without addresses and paths: what is printed may be committed. */
function firstError(stderr) {
  const line = /^(?:npm (?:error|ERR!) (?!code|A complete log)|error: )(.*)$/m.exec(stderr ?? '')?.[1] ?? 'no reason was given';
  return line.replaceAll(/https?:\/\/\S+/g, 'the registry').slice(0, 200);
}
