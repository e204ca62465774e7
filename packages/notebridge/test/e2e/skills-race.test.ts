// @module-tag deep
// @module-tag P-169

import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ServedHub } from '../support/served-hub.js';
import { Swapper, whyNoSwapper } from '../support/swapper.js';

/** Reads through the running hub. */
const reads = Number(process.env.NOTEBRIDGE_RACE_READS ?? 800);
const why = whyNoSwapper();

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'notebridge-skills-race-'));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
});

function writeSkill(folder: string, word: string): void {
  mkdirSync(join(folder, 'references'), { recursive: true });
  writeFileSync(join(folder, 'SKILL.md'), `---\nname: notes\ndescription: d\n---\n${word}`);
  writeFileSync(join(folder, 'references', 'a.md'), word);
}

async function serve(): Promise<ServedHub> {
  return ServedHub.start({ args: ['--notebook', 'none', '--shared-dir', join(base, 'shared')] });
}

describe('the skills of a shared folder, served', () => {
  it('may not lead out of it, neither one of them nor all of them', async () => {
    writeSkill(join(base, 'elsewhere', 'notes'), 'secret');
    await using hub = await serve();
    await hub.until(() => existsSync(join(base, 'shared', 'skills')) || hub.stderr.includes('cannot be made'));
    const load = async () => JSON.stringify(await hub.call('skills', 'load_skill', { skill_name: 'notes' }, hub.ownerToken));
    symlinkSync(join(base, 'elsewhere', 'notes'), join(base, 'shared', 'skills', 'notes'));
    expect(await load()).toContain('There is no skill');
    // Whoever may write to the shared folder may also replace what is in it.
    renameSync(join(base, 'shared', 'skills'), join(base, 'shared', 'moved'));
    symlinkSync(join(base, 'elsewhere'), join(base, 'shared', 'skills'));
    expect(await load()).toContain('There is no skill');
    rmSync(join(base, 'shared', 'skills'));
    symlinkSync('moved', join(base, 'shared', 'skills'));
    rmSync(join(base, 'shared', 'moved', 'notes'));
    writeSkill(join(base, 'shared', 'moved', 'notes'), 'inside');
    expect(await load()).toContain('inside');
  });

  it.skipIf(why !== undefined)(
    `give nothing from outside while another process swaps${why === undefined ? '' : ` (skipped: ${why})`}`,
    async () => {
      const skill = join(base, 'shared', 'skills', 'notes');
      writeSkill(skill, 'inside');
      mkdirSync(join(base, 'evil'));
      writeFileSync(join(base, 'evil', 'a.md'), 'secret');
      symlinkSync(join(base, 'evil'), join(base, 'link'));
      await using hub = await serve();
      const { ownerToken } = hub;
      const counts = { inside: 0, refused: 0, secret: 0 };
      await using _swapper = await Swapper.start(join(skill, 'references'), join(base, 'link'));
      const readSome = async (times: number): Promise<void> => {
        for (let turn = 0; turn < times; turn++) {
          const args = { skill_name: 'notes', resource_name: 'references/a.md' };
          const text = JSON.stringify(await hub.call('skills', 'read_skill_resource', args, ownerToken));
          if (text.includes('secret')) counts.secret++;
          else if (text.includes('inside')) counts.inside++;
          else if (text.includes('There is no resource')) counts.refused++;
          else throw new Error(text);
        }
      };
      await Promise.all(Array.from({ length: 4 }, () => readSome(Math.ceil(reads / 4))));
      process.stdout.write(`${reads} reads through the hub: ${JSON.stringify(counts)}\n`);
      expect(counts.secret).toBe(0);
      expect(counts.inside).toBeGreaterThan(0);
      expect(counts.refused).toBeGreaterThan(0);
    },
    Math.max(60_000, reads * 20),
  );
});
