// @module-tag P-138

import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ServedHub } from '../support/served-hub.js';
import { findSmallDisk } from '../support/small-disk.js';

const disk = findSmallDisk();
if (disk.why !== undefined) process.stdout.write(`Skipped: ${disk.why}\n`);
const calls = 80;

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'notebridge-full-disk-'));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
});

/** Fills a disk to its last byte. */
function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (;;) writeSync(file, Buffer.alloc(4096));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
}

/** Whole lines; one that the full disk cut off is none. */
function parse(text: string): JsonObject[] {
  return text
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as JsonObject);
}

describe('a full disk under the audit of a running hub', () => {
  it.skipIf(disk.launch === undefined)(
    'stops no call; the log says so, and the audit tells how many lines are missing, when there is room and at the end',
    async () => {
      const folder = join(base, 'disk');
      mkdirSync(folder);
      await using hub = await ServedHub.start({
        launch: disk.launch?.(folder, '64k') ?? [],
        notebridge: { audit: { file: join(folder, 'audit.jsonl') } },
        args: ['--notebook', 'none', '--shared-dir', join(base, 'shared')],
      });
      const seen = (name: string): string => join(`/proc/${hub.pid}/root`, folder, name);
      const audit = openSync(seen('audit.jsonl'), 'r');
      onTestFinished(() => closeSync(audit));
      const lines = (): JsonObject[] => parse(readFileSync(`/proc/self/fd/${audit}`, 'utf8'));
      let made = 0;
      const call = async (times: number): Promise<void> => {
        for (let time = 0; time < times; time++, made++) {
          expect((await hub.call('skills', 'list_skills', {}, hub.ownerToken)).status).toBe(200);
        }
      };
      const told = (level: string, text: RegExp) => hub.log().filter((line) => line.level === level && text.test(String(line.msg)));
      const full = /^The audit ".*audit\.jsonl" cannot be written: no space is left on the disk \(ENOSPC\)\. Calls go on\. Free some space/;
      const again = /^The audit ".*audit\.jsonl" is written again; up to (\d+) lines are missing\.$/;

      await call(1);
      // A line is written soon after its call: this one has found room.
      await expect.poll(() => lines().filter((line) => line.tool === 'list_skills')).toHaveLength(1);
      fill(seen('filler'));
      await call(calls);
      await hub.until(() => told('error', full).length > 0);
      rmSync(seen('filler'));
      await call(1);
      await hub.until(() => told('warn', again).length === 1);
      const [gap] = lines().filter((line) => line.lost_lines_at_most !== undefined);
      const missing = Number(gap?.lost_lines_at_most);
      expect(told('warn', again)[0]?.msg).toContain(`up to ${missing} lines`);
      expect(missing).toBeGreaterThan(0);
      expect(missing).toBeLessThanOrEqual(calls);
      // The line of the last call may come a moment after its answer, and after the gap.
      const counted = () => lines().filter((line) => line.tool === 'list_skills').length + missing;
      await expect.poll(counted).toBeGreaterThanOrEqual(made);
      expect(told('error', full)).toHaveLength(1);

      // Nobody calls any more after the second time: then the end tells.
      fill(seen('filler'));
      await call(calls);
      await hub.until(() => told('error', full).length === 2);
      rmSync(seen('filler'));
      await hub.stop();
      const gaps = lines().filter((line) => line.lost_lines_at_most !== undefined);
      expect(gaps).toHaveLength(2);
      const lost = gaps.reduce((sum, line) => sum + Number(line.lost_lines_at_most), 0);
      expect(lines().filter((line) => line.tool === 'list_skills').length + lost).toBeGreaterThanOrEqual(made);
    },
  );
});
