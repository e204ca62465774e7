// @module-tag P-187

/** What a sandbox may take of the machine: escaped code takes all that it gets. */
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bring, type Ending, runInside, whyNoSandbox } from './support/sandboxed.js';

const missing = await whyNoSandbox();

describe.skipIf(missing !== undefined)('in the sandbox', () => {
  let folder: string;
  let program: string;
  beforeAll(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-bounds-')));
    program = bring('bombs.mjs', folder);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const explode = (kind: string, atStart?: (pid: number | undefined) => void) =>
    runInside(
      { command: [process.execPath, program, kind], readable: [folder], folder, maxDataBytes: 1024 ** 3 },
      atStart ? { atStart } : {},
    );
  const lastNumber = ({ stdout }: Ending) => Number(stdout.trim().split('\n').at(-1));

  test.each(['memory', 'webAssembly'])('the growth of %s ends at its bound, and so does the program, saying why', async (kind) => {
    const ending = await explode(kind);
    expect(ending.code).not.toBe(0);
    expect(ending.stderr).toMatch(/memory|allocation/i);
    expect(lastNumber(ending)).toBeGreaterThan(100);
    expect(lastNumber(ending)).toBeLessThan(1025);
  });

  test('a fork bomb makes no process', async () => {
    const ending = await explode('processes');
    expect(ending.stderr).toBe('');
    expect(lastNumber(ending)).toBe(0);
  });

  test('no disk can be filled, since there is none', async () => {
    const ending = await explode('disk');
    expect(ending.stderr).toBe('');
    expect(lastNumber(ending)).toBe(0);
  });

  test('few files are open at once', async () => {
    expect(lastNumber(await explode('files'))).toBeLessThan(256);
  });

  test('the machine ends it before others when memory is short, and others come first on the processor', async () => {
    let facts: { oom: string; nice: string | undefined; core: string | undefined } | undefined;
    await explode('memory', (pid) => {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      facts = {
        oom: readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8').trim(),
        nice: stat.slice(stat.lastIndexOf(')')).split(' ')[17],
        core: /Max core file size\s+(\d+)/.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))?.[1],
      };
    });
    // Five steps behind the program that starts it, up to the last there is.
    expect(facts).toEqual({ oom: '500', nice: String(Math.min(19, getPriority() + 5)), core: '0' });
  });
});
