import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { madeOnce } from '../../../../scripts/made-once.mjs';
import { pythonWith } from '../../../../scripts/python-env.mjs';

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'notebridge-made-'));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

describe('what is made once', () => {
  const fill = (text: string) => async (making: string) => {
    writeFileSync(join(making, 'file'), text);
    return making;
  };

  it('stays, also when two make it at once, and nothing else is left', async () => {
    const folders = await Promise.all([madeOnce('thing-1', fill('whole'), place), madeOnce('thing-1', fill('whole'), place)]);
    expect(folders).toEqual([join(place, 'thing-1'), join(place, 'thing-1')]);
    expect(readFileSync(join(place, 'thing-1/file'), 'utf8')).toBe('whole');
    await madeOnce('thing-1', () => Promise.reject(new Error('is not made again')), place);
    expect(readdirSync(place)).toEqual(['thing-1']);
  });

  it('is not there when making it failed', async () => {
    const failing = madeOnce('thing-1', async (making) => Promise.reject(new Error(`no room in ${existsSync(making)}`)), place);
    await expect(failing).rejects.toThrow('no room in true');
    expect(readdirSync(place)).toEqual([]);
  });

  it('is made by the next run when one was killed in the middle, of which nothing is left', async () => {
    const module = new URL('../../../../scripts/made-once.mjs', import.meta.url);
    const program = `import { madeOnce } from '${module}';
      await madeOnce('thing-1', (making) => new Promise(() => { setInterval(() => {}, 1000); console.log(making); }), ${JSON.stringify(place)});`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(readdirSync(place)).toEqual([expect.stringMatching(/^thing-1\.\d+\./)]);
    await madeOnce('thing-1', fill('whole'), place);
    expect(readdirSync(place)).toEqual(['thing-1']);
  });
});

it('a package of Python that is not in the lock file is named, with what to do', async () => {
  await expect(pythonWith(['ipykernel', 'jupyterlab'])).rejects.toThrow(
    /has no jupyterlab for the environment "science"\. Add .* node scripts\/python-env\.mjs --lock/,
  );
});
