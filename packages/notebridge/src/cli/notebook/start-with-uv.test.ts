// @module-tag P-708

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { heedWritten } from '@notebridge/system/processes/written-rule';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { uvSettings } from './start-with-uv.js';

let base: string;
let given: string;
let own: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-uv-settings-')));
  [given, own] = [join(base, 'given'), join(base, 'own')];
  for (const folder of [given, own]) mkdirSync(folder);
  heedWritten('uv settings', () => [given]);
});
afterEach(() => {
  heedWritten('uv settings', () => []);
  rmSync(base, { recursive: true, force: true });
});

describe('uv is started', () => {
  it('without a variable that leads to where code could write', () => {
    const index = `file://${given}/index`;
    const theirs = { UV_CONFIG_FILE: `${given}/uv.toml`, UV_INDEX_URL: index, UV_INDEX: `mine=${index}`, UV_CACHE_DIR: `${given}/cache` };
    const mine = { HOME: own, UV_DEFAULT_INDEX: 'https://packages.example.org/simple', UV_LINK_MODE: 'copy', UV_CACHE_DIR: `${own}/cache` };
    expect(uvSettings({ ...mine, ...theirs }, own)).toEqual({
      options: [],
      env: { HOME: own, UV_DEFAULT_INDEX: mine.UV_DEFAULT_INDEX, UV_LINK_MODE: 'copy' },
    });
    expect(uvSettings(mine, own)).toEqual({ options: [], env: mine });
    expect(uvSettings({ HOME: own, UV_ENV_FILE: 'any' }, given)).toEqual({ options: ['--no-config'], env: { HOME: own } });
  });

  it.each(['work/uv.toml', 'uv.toml', '.config/uv/uv.toml', 'config/uv'])('without its files where %s is a link to there', (place) => {
    const work = join(own, 'work');
    mkdirSync(dirname(join(own, place)), { recursive: true });
    symlinkSync(join(given, 'x'), join(own, place));
    const env = place.startsWith('config') ? { XDG_CONFIG_HOME: join(own, 'config') } : { HOME: own };
    expect(uvSettings(env, work).options).toEqual(['--no-config']);
  });
});
