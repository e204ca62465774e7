// @module-tag P-541

import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger, toLogger } from '@notebridge/protocol/util/logger';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readClusterKey } from './cluster-key.js';

describe('readClusterKey', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'cluster-key-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const read = (key?: string, stateDir = folder) => readClusterKey({ key }, { stateDir, logger: silentLogger });
  const write = (name: string, text: string, mode = 0o600): string => {
    const file = join(folder, name);
    writeFileSync(file, text);
    chmodSync(file, mode);
    return file;
  };

  it('makes a private one in the state folder, once, and says that the others need it', () => {
    const stateDir = join(folder, 'state');
    const lines: string[] = [];
    const logger = toLogger((_, message) => void lines.push(message));
    const key = readClusterKey({}, { stateDir, logger });
    const file = join(stateDir, 'cluster-key');
    expect(readClusterKey({}, { stateDir, logger })).toEqual(key);
    expect(lines).toEqual([expect.stringMatching(/^cluster: made .*"[^"]+cluster-key".* needs a copy/)]);
    expect(lines.join()).not.toContain(key.toString());
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toMatch(/^[\w-]{43}\n$/);
    chmodSync(file, 0o644);
    expect(() => read(undefined, stateDir)).toThrow(/open to other users .* chmod 600/);
  });

  it('reads the file that the config names, also a mounted secret: a link that the group may read', () => {
    const file = write('named', `  ${'k'.repeat(32)}\n`);
    expect(read(file).toString()).toBe('k'.repeat(32));
    const link = join(folder, 'link');
    symlinkSync(write('mounted', 'm'.repeat(40), 0o440), link);
    expect(read(link).toString()).toBe('m'.repeat(40));
  });

  it('refuses one that others can read, that is short, or that is not there', () => {
    expect(() => read(write('open', 'k'.repeat(40), 0o644))).toThrow(/others can read it.*mode 644.* chmod 600/);
    expect(() => read(write('writable', 'k'.repeat(40), 0o620))).toThrow(/group can write it/);
    expect(() => read(write('short', 'k'.repeat(31)))).toThrow(/has 31 characters, and needs 32.*openssl rand/);
    expect(() => read(join(folder, 'nothing'))).toThrow(
      /Cannot use the file ".*nothing" .* it is not there\. Copy it from a hub .* openssl rand/,
    );
  });
});
