// @runs process
// @module-tag P-626

/** A browser, and what xdg-open starts in turn, are programs that run outside of the sandbox. */
import { chmod, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openBrowser } from './browser.js';
import type { Surroundings } from './environment.js';
import { heedWritten } from './written-rule.js';

const screen: Surroundings = { ssh: false, wsl: false, container: false, display: true };
/** A busy machine may take seconds to start what ends at once. Milliseconds. */
const slowestMs = 45_000;

let base = '';
let given = '';
let marks = '';
/** The command of a program that leaves a mark, in a folder that code could write to or in another one. */
async function program(folder: string, name: string): Promise<string> {
  const path = join(base, folder, name);
  await mkdir(join(base, folder), { recursive: true });
  await writeFile(path, `#!/bin/sh\n: > '${join(marks, `${folder}-${name}`)}'\n`);
  await chmod(path, 0o755);
  return path;
}
beforeEach(async ({ skip }) => {
  skip(process.platform !== 'linux', 'xdg-open is how Linux opens a browser');
  base = await realpath(await mkdtemp(join(tmpdir(), 'notebridge-browser-')));
  [given, marks] = [join(base, 'given'), join(base, 'marks')];
  await mkdir(marks);
  heedWritten('test', () => [given]);
});
afterEach(() => rm(base, { recursive: true, force: true }));

it('BROWSER starts nothing of a folder that code could write to: not by a path, as an argument, or by a name', async () => {
  const written = await program('given', 'mine');
  const own = await program('own', 'browser');
  for (const BROWSER of [`${written} %s`, `/usr/bin/env ${written} %s`, 'mine']) {
    const env = { BROWSER: `${BROWSER}:${own}`, PATH: [given, '/usr/bin', '/bin'].join(delimiter) };
    expect(await openBrowser('https://example.com/', { env, timeoutMs: slowestMs }), BROWSER).toEqual({ opened: true, by: 'browser' });
  }
  const refused = await openBrowser('https://example.com/', { env: { BROWSER: written, PATH: '/usr/bin' } });
  expect(refused).toMatchObject({ opened: false, hint: expect.stringContaining(`code in a sandbox may write to "${given}"`) });
  expect(await readdir(marks)).toEqual(['own-browser']);
});

it('xdg-open is not found there, and finds nothing there itself', async () => {
  await program('given', 'xdg-open');
  await program('given', 'grep');
  const launcher = await program('own', 'xdg-open');
  await writeFile(launcher, `#!/bin/sh\ngrep --version > '${join(marks, 'grep')}'\n`);
  const env = { PATH: [given, join(base, 'own'), '/usr/bin', '/bin'].join(delimiter) };
  const options = { env, surroundings: screen, timeoutMs: slowestMs };
  expect(await openBrowser('https://example.com/', options)).toEqual({ opened: true, by: 'xdg-open' });
  expect(await readdir(marks)).toEqual(['grep']);
});

it('a link outside that leads there is not followed, whoever names it', async () => {
  for (const name of ['xdg-open', 'named']) {
    const written = await program('given', name);
    await mkdir(join(base, 'own'), { recursive: true });
    await symlink(written, join(base, 'own', name));
  }
  const env = { PATH: [join(base, 'own'), '/usr/bin', '/bin'].join(delimiter) };
  for (const more of [{}, { BROWSER: 'named' }]) {
    const refused = await openBrowser('https://example.com/', { env: { ...env, ...more }, surroundings: screen, timeoutMs: slowestMs });
    expect(refused).toMatchObject({ opened: false, hint: expect.stringContaining(`code in a sandbox may write to "${given}"`) });
  }
  expect(await readdir(marks)).toEqual([]);
});

it('a system without xdg-open is one without a browser', async () => {
  const env = { PATH: join(base, 'nothing') };
  const result = await openBrowser('https://example.com/', { env, surroundings: screen, timeoutMs: slowestMs });
  expect(result).toMatchObject({ opened: false, reason: 'command_failed', hint: expect.stringContaining('ENOENT') });
});
