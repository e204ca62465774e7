// @module-tag deep
// @module-tag P-170

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { processExists } from '../processes/living-process.js';
import { ownUserId } from '../processes/own-user.js';
import { makeScratchFolder, sweepScratchFolders } from './scratch-folder.js';

const processes = { own: process.pid, exists: processExists };
const rules = { uid: ownUserId() };
const built = new URL('../../dist/files/scratch-folder.js', import.meta.url).href;
/** Makes a folder, says where, and stays. */
const holder = `
  const { makeScratchFolder } = await import(${JSON.stringify(built)});
  const folder = await makeScratchFolder({ own: process.pid, exists: () => true }, { uid: process.geteuid?.() });
  process.stdout.write(folder.path);
  setInterval(() => {}, 1e6);
`;

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'notebridge-scratches-'));
  vi.stubEnv('TMPDIR', parent);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(parent, { recursive: true, force: true });
});

describe('makeScratchFolder', () => {
  it('makes a folder that no other user can look into, each time another, and removes it with what is in it', async () => {
    const [one, other] = [await makeScratchFolder(processes, rules), await makeScratchFolder(processes, rules)];
    expect(statSync(one.path).mode & 0o777).toBe(0o700);
    expect(other.path).not.toBe(one.path);
    mkdirSync(join(one.path, 'in'));
    writeFileSync(join(one.path, 'in', 'file'), '');
    await one.remove();
    await one.remove();
    expect([existsSync(one.path), existsSync(other.path)]).toEqual([false, true]);
    await other.remove();
  });

  it('says what to do when there is no room for one', async () => {
    vi.stubEnv('TMPDIR', join(parent, 'none'));
    await expect(makeScratchFolder(processes, rules)).rejects.toMatchObject({
      code: 'write_failed',
      message: expect.stringMatching(/^Cannot make a folder in ".*none": a part of the path does not exist \(ENOENT\)\. Create the folder/),
    });
  });

  it('leaves those of a process that runs, and removes them when it was killed', async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', holder], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'close');
    const [path] = (await once(child.stdout, 'data')).map(String);
    const file = join(path ?? '', 'file');
    writeFileSync(file, '');
    await sweepScratchFolders(processes, rules);
    expect(existsSync(file)).toBe(true);
    child.kill('SIGKILL');
    await ended;
    await sweepScratchFolders(processes, rules);
    expect(existsSync(path ?? '')).toBe(false);
  });

  it('removes nothing that others could have put there', async () => {
    const name = (end: string): string => join(parent, `notebridge-scratch-4194304-0123abcd-${end}`);
    const target = join(parent, 'target');
    for (const folder of [name('opened'), name('deeper'), target, join(parent, 'notebridge-scratch-4194304-0123abcd')]) mkdirSync(folder);
    chmodSync(name('opened'), 0o777);
    chmodSync(name('deeper'), 0o700);
    writeFileSync(join(target, 'kept'), '');
    symlinkSync(target, name('linked'));
    await sweepScratchFolders(processes, rules);
    expect(
      [name('opened'), join(target, 'kept'), name('linked'), join(parent, 'notebridge-scratch-4194304-0123abcd')].map(existsSync),
    ).toEqual([true, true, true, true]);
    expect(existsSync(name('deeper'))).toBe(false);
  });
});
