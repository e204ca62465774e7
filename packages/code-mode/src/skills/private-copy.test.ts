// @module-tag deep
// @module-tag P-170

import { chmodSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { link } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { callSkills, faultOf, resultOf, useSkillsPlace } from '../../../notebridge/test/support/skill-folders.js';
import { Swapper, whyNoSwapper } from '../../../notebridge/test/support/swapper.js';
import type { SkillsServer } from './skills-server.js';

const place = useSkillsPlace();
let temporary: string;
beforeEach(async () => {
  temporary = mkdtempSync(join(place.base, 'tmp-'));
  vi.stubEnv('TMPDIR', temporary);
  await place.writeSkill('pdf');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const run = (server: SkillsServer, script_name: string) => callSkills(server, 'run_skill_script', { skill_name: 'pdf', script_name });
const outputOf = async (script: string, server = place.serve()) => (resultOf(await run(server, script)) as JsonObject).output;

describe('a script runs from a private copy', () => {
  it('a copy has the neighbours of the script, and all that belongs to the skill', async () => {
    await place.write(
      'pdf/scripts/a.py',
      'import near, pathlib\nprint(near.word, pathlib.Path(__file__).parent.parent.joinpath("assets/w").read_text())',
    );
    await place.write('pdf/scripts/near.py', 'word = "near"');
    await place.write('pdf/scripts/b.mjs', 'import { word } from "../lib/near.mjs"; import { far } from "far"; console.log(word, far)');
    await place.write('pdf/lib/near.mjs', 'export const word = "lib"');
    await place.write('pdf/node_modules/far/package.json', '{"type":"module","exports":"./index.js"}');
    await place.write('pdf/node_modules/far/index.js', 'export const far = "far"');
    await place.write('pdf/scripts/c.sh', '. "$(dirname "$0")/near.sh"; "$(dirname "$0")/tool"; echo "$WORD"');
    await place.write('pdf/scripts/near.sh', 'WORD=sourced');
    await place.write('pdf/assets/w', 'asset');
    symlinkSync('../lib/near.sh', join(place.root, 'pdf/scripts/tool'));
    await place.write('pdf/lib/near.sh', '#!/bin/sh\necho tool');
    chmodSync(join(place.root, 'pdf/lib/near.sh'), 0o755);
    expect(await outputOf('a')).toBe('near asset\n');
    expect(await outputOf('b')).toBe('lib far\n');
    expect(await outputOf('c')).toBe('tool\nsourced\n');
  });

  it('no other user can look into the copy, which is gone afterwards, however the script ended', async () => {
    await place.write(
      'pdf/scripts/mode.py',
      'import os, sys\nhere = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))\nprint(oct(os.stat(here).st_mode)[-3:], here)',
    );
    await place.write('pdf/scripts/fail.sh', 'exit 3');
    await place.write('pdf/scripts/slow.sh', 'sleep 600');
    const [mode, here] = String(await outputOf('mode'))
      .trim()
      .split(' ');
    expect(mode).toBe('700');
    expect(here).toMatch(new RegExp(`^${temporary}/notebridge-scratch-${process.pid}-`));
    await outputOf('fail');
    await outputOf('slow', place.serve({ folders: [place.source({ timeoutMs: 300 })] }));
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('a copy lacks what leads out of the skill', async () => {
    mkdirSync(join(place.base, 'outside'));
    writeFileSync(join(place.base, 'outside', 'near.py'), 'word = "evil"');
    symlinkSync(join(place.base, 'outside', 'near.py'), join(place.root, 'pdf', 'near.py'));
    await place.write('pdf/scripts/a.py', 'import sys\nsys.path.insert(0, __file__.rsplit("/", 2)[0])\nimport near');
    const result = resultOf(await run(place.serve(), 'a')) as JsonObject;
    expect(result.error).toContain("No module named 'near'");
  });

  it('a copy has hard links too: who may write there is trusted', async () => {
    await place.write('outside.sh', 'echo linked');
    await place.write('pdf/scripts/other.sh', '');
    await link(join(place.root, 'outside.sh'), join(place.root, 'pdf/scripts/linked.sh'));
    expect(await outputOf('linked')).toBe('linked\n');
  });

  it('no copy is made of a skill too large for it', async () => {
    await place.write('pdf/scripts/a.sh', 'echo ran');
    await place.write('pdf/assets/large', '');
    truncateSync(join(place.root, 'pdf/assets/large'), 268_435_457);
    const { code, text } = faultOf(await run(place.serve(), 'a'));
    expect(code).toBe('limit_reached');
    expect(text).toContain('holds more than 268435456 bytes, and a script runs from a copy of it.');
    expect(readdirSync(temporary)).toEqual([]);
  });

  it.skipIf(whyNoSwapper() !== undefined)(
    'a copy holds nothing from outside while another process swaps the folder of scripts',
    async () => {
      await place.write('pdf/scripts/a.sh', '. "$(dirname "$0")/near.sh"');
      await place.write('pdf/scripts/near.sh', 'echo inside');
      const evil = join(place.base, 'evil');
      mkdirSync(evil);
      for (const name of ['a.sh', 'near.sh']) writeFileSync(join(evil, name), 'echo evil');
      symlinkSync(evil, join(place.base, 'link'));
      const server = place.serve();
      const outputs = new Map<string, number>();
      await using _swapper = await Swapper.start(join(place.root, 'pdf', 'scripts'), join(place.base, 'link'));
      for (let turn = 0; turn < 150; turn++) {
        const result = await run(server, 'a.sh');
        const output = result.isError === true ? 'refused' : String((result.structuredContent as JsonObject).stdout).trim();
        outputs.set(output, (outputs.get(output) ?? 0) + 1);
      }
      process.stdout.write(`${JSON.stringify(Object.fromEntries(outputs))}\n`);
      expect(outputs.get('inside')).toBeGreaterThan(0);
      expect(outputs.get('refused')).toBeGreaterThan(0);
      // Empty: the neighbour was out of sight while the script was copied.
      expect([...outputs.keys()].filter((output) => !['inside', 'refused', ''].includes(output))).toEqual([]);
    },
    180_000,
  );
});
