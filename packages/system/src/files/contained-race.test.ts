// @module-tag P-169

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { roundsOf } from '../../../notebridge/test/support/core-and-deep.js';
import { furnishForSwaps, Swapper, swaps, whyNoSwapper } from '../../../notebridge/test/support/swapper.js';
import { ContainedFolder } from './contained-folder.js';

/** Reads altogether. NOTEBRIDGE_RACE_READS=200000 takes some minutes. */
const reads = Number(process.env.NOTEBRIDGE_RACE_READS ?? roundsOf(8000));
const scenes = Object.entries(swaps);
const turns = Math.ceil(reads / scenes.length);
const why = whyNoSwapper();

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'notebridge-race-'));
  furnishForSwaps(base);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const count = (counts: Map<string, number>, what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);

/** What code that trusts paths reads: shows that the swapper is fast enough to fool. */
function naively(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  }
}

describe.skipIf(why !== undefined)(`ContainedFolder while another process swaps${why === undefined ? '' : ` (skipped: ${why})`}`, () => {
  it.each(scenes)(
    'nothing from outside is read, listed or copied: %s',
    async (scene, { one, other, path }) => {
      const root = join(base, 'top');
      const folder = await ContainedFolder.open(root);
      if (folder === undefined) throw new Error('The folder was not opened');
      const before = readdirSync('/proc/self/fd').length;
      const [read, fooled, listed] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
      await using _swapper = await Swapper.start(join(base, one), join(base, other));
      for (let turn = 0; turn < turns; turn++) {
        const result = await folder.read(`${path}/a.txt`, 100);
        count(read, result.kind === 'read' ? result.bytes.toString() : result.kind);
        if (turn % 10 !== 0) continue;
        count(fooled, naively(join(root, path, 'a.txt')));
        for (const { name } of await folder.list(path)) count(listed, name);
        const entered = await (await folder.enter(path))?.read('a.txt', 100);
        expect(entered?.kind === 'read' ? entered.bytes.toString() : '').not.toBe('secret');
        const target = join(base, `copy-${turn}`);
        if ((await folder.copy(`${path}/a.txt`, target, 100)).kind === 'copied') expect(readFileSync(target, 'utf8')).toBe('inside');
      }
      process.stdout.write(`${scene}: ${turns} reads: ${toText(read)}; naively ${toText(fooled)}\n`);
      expect(fooled.get('secret')).toBeGreaterThan(0);
      expect(read.get('inside')).toBeGreaterThan(0);
      expect(read.get('outside')).toBeGreaterThan(0);
      expect([...read.keys()].filter((key) => !['inside', 'outside', 'absent'].includes(key))).toEqual([]);
      expect([...listed.keys()].filter((name) => name !== 'a.txt')).toEqual([]);
      // The pipe and the process of the swapper are ours, too.
      expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before + 4);
    },
    Math.max(60_000, turns * 20),
  );
});

function toText(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([what, times]) => `${what} ${times}`).join(', ');
}
