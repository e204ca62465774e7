// @module-tag deep

import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openBrowser } from './browser.js';
import type { Surroundings } from './environment.js';

const url = 'https://example.com/a?b=c#token=secret&port=1';
const screen: Surroundings = { ssh: false, wsl: false, container: false, display: true };
const noScreen: Surroundings = { ...screen, display: false };
/** A busy machine may take seconds to start what ends at once. Milliseconds. */
const slowestMs = 45_000;
const startNode = (code: string) => async () => spawn(process.execPath, ['-e', code], { stdio: 'ignore', detached: true });

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'notebridge-browser-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** A browser that notes what it was given, then ends as asked. */
async function fakeBrowser(name: string, exitCode: number): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\nprintf '%s\\n' "$@" > '${join(folder, `${name}.args`)}'\nexit ${exitCode}\n`);
  await chmod(path, 0o755);
  return path;
}

describe('openBrowser: BROWSER', () => {
  beforeEach(({ skip }) => skip(process.platform === 'win32', 'its commands and paths are those of POSIX'));
  it('runs the command with the URL, even where there is no screen', async () => {
    const browser = await fakeBrowser('mine', 0);
    const result = await openBrowser(url, {
      env: { BROWSER: `${browser} --tab %s`, PATH: process.env.PATH },
      platform: 'linux',
      surroundings: noScreen,
      timeoutMs: slowestMs,
    });
    expect(result).toEqual({ opened: true, by: 'mine' });
    expect(await readFile(join(folder, 'mine.args'), 'utf8')).toBe(`--tab\n${url}\n`);
  });

  it('goes on to the next command when one fails', async () => {
    const [broken, good] = [await fakeBrowser('broken', 1), await fakeBrowser('good', 0)];
    const result = await openBrowser(url, { env: { BROWSER: `/no/such:${broken}:${good}`, PATH: process.env.PATH }, timeoutMs: slowestMs });
    expect(result).toEqual({ opened: true, by: 'good' });
  });

  it('says which commands failed and how, without the URL', async () => {
    const broken = await fakeBrowser('broken', 3);
    const result = await openBrowser(url, { env: { BROWSER: `nosuchbrowser:${broken}`, PATH: '/usr/bin:/bin' }, timeoutMs: slowestMs });
    if (result.opened) throw new Error('should not have opened');
    expect(result.reason).toBe('command_failed');
    expect(result.hint).toMatch(
      /^BROWSER could not be used \("nosuchbrowser": .*ENOENT; "broken": it ended with exit code 3\)\. Open the address by hand/,
    );
    expect(result.hint).not.toContain('secret');
  });
});

describe('openBrowser: an empty BROWSER', () => {
  it('is ignored if blank, and reported if it names nothing', async () => {
    const openWithSystem = startNode('');
    expect(await openBrowser(url, { env: { BROWSER: ' ' }, surroundings: screen, openWithSystem })).toMatchObject({ opened: true });
    const result = await openBrowser(url, { env: { BROWSER: ':' }, surroundings: screen, openWithSystem });
    expect(result).toMatchObject({ opened: false, hint: expect.stringMatching(/^BROWSER names no command\./) });
  });
});

describe('openBrowser: the system', () => {
  const env = {};

  it('counts a launcher that ended well, or still runs, as opened', async () => {
    expect(await openBrowser(url, { env, surroundings: screen, openWithSystem: startNode('') })).toMatchObject({ opened: true });
    const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], { stdio: 'ignore' });
    expect(await openBrowser(url, { env, surroundings: screen, timeoutMs: 50, openWithSystem: async () => child })).toMatchObject({
      opened: true,
    });
    child.kill('SIGKILL');
  });

  it('does not pretend: a launcher that fails is reported', async () => {
    const result = await openBrowser(url, {
      env,
      surroundings: screen,
      timeoutMs: slowestMs,
      openWithSystem: startNode('process.exit(3)'),
    });
    expect(result).toMatchObject({
      opened: false,
      reason: 'command_failed',
      hint: expect.stringContaining('found no browser (it ended with exit code 3).'),
    });
    const wsl = await openBrowser(url, {
      env,
      surroundings: { ...screen, wsl: true },
      timeoutMs: slowestMs,
      openWithSystem: startNode('process.exit(1)'),
    });
    expect(wsl).toMatchObject({ opened: false, reason: 'wsl', hint: expect.stringContaining('browser on Windows') });
  });

  it('reports a launcher that cannot be started', async () => {
    const openWithSystem = (): Promise<never> => Promise.reject(new Error('spawn xdg-open ENOENT'));
    expect(await openBrowser(url, { env, surroundings: screen, openWithSystem })).toMatchObject({
      opened: false,
      reason: 'command_failed',
      hint: expect.stringContaining('No browser could be started (spawn xdg-open ENOENT).'),
    });
  });

  it.each([
    ['no_display', noScreen, 'no screen'],
    ['ssh', { ...noScreen, ssh: true, container: true }, 'SSH session'],
    ['container', { ...noScreen, container: true }, 'forward the port into it'],
  ] as const)('starts nothing without a screen: %s', async (reason, surroundings, words) => {
    const openWithSystem = (): Promise<never> => Promise.reject(new Error('must not be called'));
    expect(await openBrowser(url, { env, surroundings, openWithSystem })).toMatchObject({
      opened: false,
      reason,
      hint: expect.stringMatching(new RegExp(`^.{0,60}${words}.{0,80}$`)),
    });
  });

  it('looks up the surroundings from the environment that it was given', async () => {
    const result = await openBrowser(url, { env: { SSH_TTY: '/dev/pts/0' }, platform: 'linux' });
    expect(result).toMatchObject({ opened: false, reason: 'ssh' });
  });

  it.each(['file:///etc/passwd', 'javascript:alert(1)', 'vscode://x', 'not a url', ''])('refuses %j', async (bad) => {
    const error = await openBrowser(bad, { env, surroundings: screen }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BridgeError);
    expect((error as BridgeError).code).toBe('bad_origin');
  });
});
