// @module-tag P-718

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MountedTokens } from './mounted-tokens.js';

let folder: string;
let clock: number;
let warnings: string[];
let secrets: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mounted-tokens-'));
  [clock, warnings, secrets] = [0, [], []];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** As `openssl rand -hex 32` prints. */
const tokenOf = (seed: number): string => createHash('sha256').update(String(seed)).digest('hex');
const one = tokenOf(1);
const two = `Zg-._~+/${createHash('sha256').update('2').digest('base64')}=`;
const write = (name: string, text: string, mode = 0o600): void => {
  writeFileSync(join(folder, name), text, { mode });
  chmodSync(join(folder, name), mode);
};
const open = (): MountedTokens => {
  const logger: Logger = { ...silentLogger, warn: (text) => void warnings.push(text) };
  return new MountedTokens({ folder, logger, addSecret: (secret) => void secrets.push(secret), steady: () => clock });
};
const opens = (tokens: MountedTokens, token: string): boolean => tokens.has(`Bearer ${token}`);

describe('MountedTokens', () => {
  it('opens to each file of the folder, which is kept out of logs, and to nothing else', () => {
    write('token', `${one}\n`);
    write('previous', two, 0o440);
    const tokens = open();
    expect([one, two].map((token) => opens(tokens, token))).toEqual([true, true]);
    expect(secrets).toEqual([two, one]);
    expect(opens(tokens, 'b'.repeat(64))).toBe(false);
    expect([undefined, '', one, `Basic ${one}`, `Bearer ${one} `].map((header) => tokens.has(header))).toEqual(Array(5).fill(false));
    expect(warnings).toEqual([]);
  });

  it('follows the folder within a second, as it is when Kubernetes renews a Secret: by a link that is put in the place of another', () => {
    const publish = (version: string, files: Record<string, string>): void => {
      mkdirSync(join(folder, version));
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, version, name), text, { mode: 0o440 });
      symlinkSync(version, join(folder, '..next'));
      renameSync(join(folder, '..next'), join(folder, '..data'));
    };
    publish('..1', { token: one });
    symlinkSync(join('..data', 'token'), join(folder, 'token'));
    const tokens = open();
    expect(opens(tokens, one)).toBe(true);
    publish('..2', { token: two });
    clock = 999;
    expect([opens(tokens, one), opens(tokens, two)]).toEqual([true, false]);
    clock = 1000;
    expect([opens(tokens, one), opens(tokens, two)]).toEqual([false, true]);
    rmSync(join(folder, 'token'));
    clock = 2000;
    expect(opens(tokens, two)).toBe(false);
    expect(warnings).toEqual([expect.stringContaining('There is no token in')]);
  });

  it.each([
    ['one that is short', 'prometheus', 0o600, 'has 32 to 512 letters'],
    ['few characters', `${'0123456789'.repeat(3)}98`, 0o600, 'no 8 in a row twice'],
    ['a word that repeats', 'changeme1changeme2changeme3changeme4-prometheus', 0o600, 'no 8 in a row twice'],
    ['one character', 'a'.repeat(64), 0o600, '10 different ones'],
    ['two lines', `${one}\n${two}`, 0o600, 'has 32 to 512 letters'],
    ['one that others read', one, 0o644, 'others can read it, or the group can write it (mode 644)'],
    ['one that the group writes', one, 0o660, '(mode 660)'],
  ])('opens nothing to %s, and says so once, without the token', (_, text, mode, said) => {
    write('token', text, mode);
    const tokens = open();
    for (clock of [0, 1000, 2000]) expect(opens(tokens, text)).toBe(false);
    for (clock of [3000, 4000]) expect(opens(tokens, one)).toBe(false);
    expect(warnings).toEqual([expect.stringContaining(said)]);
    expect(warnings.join('')).not.toContain(text);
  });

  it('opens nothing where the folder is not there, and goes on once it is', () => {
    rmSync(folder, { recursive: true });
    const tokens = open();
    expect(opens(tokens, one)).toBe(false);
    expect(warnings).toEqual([expect.stringContaining('The folder cannot be read')]);
    mkdirSync(folder);
    write('token', one);
    clock = 1000;
    expect(opens(tokens, one)).toBe(true);
  });

  it('reads sixteen files and no more, and none of a folder that has hundreds', () => {
    for (let at = 10; at < 30; at++) write(`t${at}`, tokenOf(at));
    const tokens = open();
    expect([10, 25, 26, 29].map((at) => opens(tokens, tokenOf(at)))).toEqual([true, true, false, false]);
    for (let at = 0; at < 256; at++) write(`.t${at}`, '');
    clock = 1000;
    expect(opens(tokens, tokenOf(10))).toBe(false);
    expect(warnings).toEqual([expect.stringContaining('Of 20 files'), expect.stringContaining('more than 256 entries')]);
  });

  it('reads files alone, of a size that tokens have: no pipe, which would stop the hub', () => {
    execFileSync('sh', ['-c', 'mkfifo -m 600 "$1"', 'sh', join(folder, 'pipe')]);
    mkdirSync(join(folder, 'folder'), { mode: 0o700 });
    symlinkSync('/dev/zero', join(folder, 'device'));
    write('large', one);
    truncateSync(join(folder, 'large'), 2 ** 32);
    write('token', two);
    const tokens = open();
    expect([opens(tokens, two), opens(tokens, one)]).toEqual([true, false]);
    expect(warnings).toHaveLength(1);
    for (const said of [
      'pipe" opens nothing: it is no file',
      'device" opens nothing: it is no',
      'folder" opens nothing: it is no',
      'bytes',
    ])
      expect(warnings[0]).toContain(said);
  });

  it.skipIf(process.getuid?.() !== 0)('opens to no file of another user, who could read it; to one of root it does (needs root)', () => {
    write('theirs', one);
    chownSync(join(folder, 'theirs'), 12_345, 0);
    const tokens = open();
    expect(opens(tokens, one)).toBe(false);
    expect(warnings).toEqual([expect.stringContaining('belongs to another user (uid 12345)')]);
    chownSync(join(folder, 'theirs'), 0, 12_345);
    chmodSync(join(folder, 'theirs'), 0o440);
    chmodSync(folder, 0o1777);
    clock = 1000;
    expect(opens(tokens, one)).toBe(true);
  });
});
