// @module-tag deep
// @module-tag P-171

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Swapper, whyNoSwapper } from '../../../notebridge/test/support/swapper.js';
import { processExists } from '../processes/living-process.js';
import { writeTree } from './file-tree.js';
import { publishFolder } from './published-folder.js';
import { removeTree } from './remove-tree.js';

const why = whyNoSwapper();
let base: string;
let shared: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'notebridge-published-race-'));
  shared = join(base, 'shared');
  mkdirSync(shared);
  mkdirSync(join(base, 'precious'));
  for (let file = 0; file < 20; file++) writeFileSync(join(base, 'precious', `f${file}`), 'precious', { mode: 0o600 });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** While the swapper swaps what is to go, until both are gone. */
async function clear(...paths: string[]): Promise<void> {
  const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  while (paths.some(isThere)) for (const path of paths) await removeTree(path).catch(() => {});
}

const precious = (): string[] => readdirSync(join(base, 'precious'));
const publish = (version: string) =>
  publishFolder(
    join(shared, 'generated'),
    new Map([
      ['a.txt', version],
      ['mark.json', 'ours'],
      ['deep/b.txt', version],
    ]),
    {
      contentHash: Buffer.from(version.padEnd(20, '.')).toString('hex'),
      marker: { file: 'mark.json', isOurs: (text) => text === 'ours' },
      asLink: true,
      writtenBy: () => undefined,
      processes: { own: process.pid, exists: processExists },
    },
  );

describe.skipIf(why !== undefined)(`a published folder that others may write to${why === undefined ? '' : ` (skipped: ${why})`}`, () => {
  it('has nothing elsewhere removed while a folder in it is swapped for a link', async () => {
    const [folder, link] = [join(shared, 'old'), join(base, 'link')];
    let whole = 0;
    const furnish = async (): Promise<void> => {
      await clear(folder, link);
      mkdirSync(join(folder, 'inner'), { recursive: true });
      for (let file = 0; file < 20; file++) writeFileSync(join(folder, 'inner', `f${file}`), '');
      symlinkSync(join(base, 'precious'), link);
    };
    await furnish();
    await using _swapper = await Swapper.start(join(folder, 'inner'), link);
    for (let turn = 0; turn < 150; turn++) {
      await removeTree(folder).then(
        () => whole++,
        () => {},
      );
      await furnish();
    }
    process.stdout.write(`150 removals under the swapper, ${whole} of them to the end\n`);
    expect(precious()).toHaveLength(20);
    expect(whole).toBeGreaterThan(0);
  });

  it('has nothing written elsewhere, and no mode changed there, while a folder in it is swapped for a link', async () => {
    const [folder, link] = [join(shared, 'new'), join(base, 'link')];
    // Some of these names are there, some are not.
    const files = new Map(Array.from({ length: 40 }, (_, index) => [`inner/f${index}`, 'text'] as const));
    mkdirSync(join(folder, 'inner'), { recursive: true });
    symlinkSync(join(base, 'precious'), link);
    await using _swapper = await Swapper.start(join(folder, 'inner'), link);
    let written = 0;
    for (let turn = 0; turn < 100; turn++) {
      await clear(folder, link);
      symlinkSync(join(base, 'precious'), link);
      await writeTree(folder, files).then(
        () => written++,
        () => {},
      );
    }
    process.stdout.write(`100 folders written under the swapper, ${written} of them to the end\n`);
    expect(written).toBeGreaterThan(0);
    expect(precious()).toHaveLength(20);
    for (const name of precious()) {
      expect(readFileSync(join(base, 'precious', name), 'utf8')).toBe('precious');
      expect(statSync(join(base, 'precious', name)).mode & 0o777).toBe(0o600);
    }
  });

  it('is not waited for where a pipe stands in place of a file, and is written anew', async () => {
    await publish('1');
    for (const name of ['a.txt', 'mark.json']) {
      const file = join(shared, 'generated', name);
      rmSync(file);
      execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', file]);
      if (name === 'a.txt') expect(await publish('1')).toBe('written');
      else await expect(publish('1')).rejects.toMatchObject({ code: 'bad_usage' });
    }
  });

  it('is not put elsewhere by a link', async () => {
    mkdirSync(join(base, 'empty'));
    chmodSync(join(base, 'empty'), 0o700);
    symlinkSync(join(base, 'empty'), join(shared, 'generated'));
    await expect(publish('1')).rejects.toMatchObject({ code: 'bad_usage', message: expect.stringContaining('it is a link to elsewhere') });
    expect(readdirSync(join(base, 'empty'))).toEqual([]);
  });

  it('has no time changed elsewhere', async () => {
    await publish('1');
    const then = new Date(1_000_000_000_000);
    utimesSync(join(base, 'precious', 'f0'), then, then);
    const [version = ''] = readdirSync(shared).filter((name) => /^\.generated-[0-9a-f]{16}$/.test(name));
    rmSync(join(shared, version), { recursive: true });
    symlinkSync(join(base, 'precious'), join(shared, version));
    const before = statSync(join(base, 'precious')).mtimeMs;
    await publish('2').catch(() => {});
    expect(statSync(join(base, 'precious')).mtimeMs).toBe(before);
  });
});
