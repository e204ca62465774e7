import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { heedWritten } from '@notebridge/system/processes/written-rule';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openAddress } from './open-address.js';

const address = 'http://localhost:1/console#code=a&b="<c>"';
const surroundings = { display: true, ssh: false, wsl: false, container: false };
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Opens the address, and returns the result and the addresses that the browser was started with. */
async function openedWith(platform: NodeJS.Platform, { wsl = false } = {}) {
  const opened: string[] = [];
  const openWithSystem = async (url: string) => {
    opened.push(url);
    return spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
  };
  const result = await openAddress(address, { env: {}, platform, surroundings: { ...surroundings, wsl }, openWithSystem });
  return { result, opened };
}

describe('an address that opens something', { tags: ['P-647'] }, () => {
  it.each(['darwin', 'win32'] as const)('is in no list of arguments on %s: a private file leads to it', async (platform) => {
    const { result, opened } = await openedWith(platform);
    expect(result).toMatchObject({ opened: true });
    expect(opened).toEqual([expect.stringMatching(/^file:.*\.html$/)]);
    const file = fileURLToPath(opened[0] ?? '');
    folders.push(dirname(file));
    expect([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(readFileSync(file, 'utf8')).toContain('content="0;url=http://localhost:1/console#code=a&#38;b=&#34;&#60;c&#62;&#34;"');
  });

  it('is printed where the browser of Windows could not read the file', async () => {
    const { result, opened } = await openedWith('linux', { wsl: true });
    expect(result).toMatchObject({ opened: false, reason: 'wsl', hint: expect.stringContaining('Open the address by hand') });
    expect(opened).toEqual([]);
  });

  it('is written to no folder that code in a sandbox may write to', { tags: ['P-706'] }, async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-open-address-')));
    folders.push(folder);
    const written = [folder];
    heedWritten(folder, () => written);
    vi.stubEnv('TMPDIR', folder);
    try {
      await expect(openedWith('darwin')).rejects.toMatchObject({ code: 'write_failed', message: expect.stringContaining('Set TMPDIR') });
      expect(readdirSync(folder)).toEqual([]);
    } finally {
      written.pop();
      vi.unstubAllEnvs();
    }
  });

  it('is an argument where it opens nothing for others (Linux)', async () => {
    expect((await openedWith('linux')).opened).toEqual([address]);
  });
});
