import { mkdir, mkdtemp, readFile, realpath, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { heedWritten } from '@notebridge/system/processes/written-rule';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { GrantStore } from './grant-store.js';
import { RotatingToken } from './rotating-token.js';

let dir: string;
let store: GrantStore;
const path = (): string => join(dir, 'box', 'token');
const tokenInFile = async (): Promise<string> => (await readFile(path(), 'utf8')).trim();
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'notebridge-rotating-'));
  await mkdir(join(dir, 'box'));
  store = await GrantStore.open({ dir });
});
afterEach(async () => {
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

describe('RotatingToken', () => {
  it('delivers a token, renews it by itself, and ends with its file', { tags: ['P-133'] }, async () => {
    const known = new Set<string>();
    const secrets = { add: (token: string) => void known.add(token), delete: (token: string) => void known.delete(token) };
    const rotating = await RotatingToken.open({ store, path: path(), terms: { ttlMs: 9000, calls: 3 }, secrets });
    const first = await tokenInFile();
    expect((await stat(path())).mode & 0o777).toBe(0o600);
    expect(store.find(first)).toMatchObject({ id: rotating.grantId });
    await expect.poll(tokenInFile, { timeout: 45_000 }).not.toBe(first);
    const second = await tokenInFile();
    expect(store.list()).toMatchObject([{ id: rotating.grantId, calls: 3 }]);
    expect(known.has(second)).toBe(true);
    await rotating.close();
    await rotating.close();
    expect(store.list()).toEqual([]);
    expect(known.size).toBe(0);
    await expect(stat(path())).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('replaces a link that a sandbox laid in the way, and leaves alone what it points to', async () => {
    await writeFile(join(dir, 'precious'), 'mine');
    await symlink(join(dir, 'precious'), path());
    await using rotating = await RotatingToken.open({ store, path: path() });
    expect(await readFile(join(dir, 'precious'), 'utf8')).toBe('mine');
    expect(store.find(await tokenInFile())).toMatchObject({ id: rotating.grantId });
  });

  it('is neither renewed nor removed by a link in a folder that code was given meanwhile', { tags: ['P-623'] }, async () => {
    let folders: string[] = [];
    heedWritten(dir, () => folders);
    onTestFinished(() => heedWritten(dir, () => []));
    const rotating = await RotatingToken.open({ store, path: path() });
    folders = [join(await realpath(dir), 'box')];
    await mkdir(join(dir, 'elsewhere'));
    await writeFile(join(dir, 'elsewhere/token'), 'mine');
    await rename(join(dir, 'box'), join(dir, 'old'));
    await symlink('elsewhere', join(dir, 'box'));
    const refused = { code: 'bad_usage', message: expect.stringMatching(/may write to ".*box".*grants files --withdraw .*box/) };
    await expect(rotating.renew()).rejects.toMatchObject(refused);
    await expect(rotating.close()).rejects.toMatchObject(refused);
    expect(await readFile(join(dir, 'elsewhere/token'), 'utf8')).toBe('mine');
    expect(store.list()).toEqual([]);
  });

  it('keeps the delivered token valid while a new one cannot be written', async () => {
    await using rotating = await RotatingToken.open({ store, path: path() });
    const first = await tokenInFile();
    await rm(path());
    await mkdir(path());
    for (let attempt = 0; attempt < 3; attempt++) await expect(rotating.renew()).rejects.toMatchObject({ code: 'write_failed' });
    expect(store.find(first)).toMatchObject({ id: rotating.grantId });
    await rm(path(), { recursive: true });
    await rotating.renew();
    expect(store.find(await tokenInFile())).toMatchObject({ id: rotating.grantId });
  });

  it('stops renewing once its grant was revoked: a token that was taken back does not return', async () => {
    let asked = 0;
    const counted = {
      issue: store.issue.bind(store),
      revoke: store.revoke.bind(store),
      renew: (...args: Parameters<GrantStore['renew']>) => {
        asked += 1;
        return store.renew(...args);
      },
    };
    let noteFault = (): void => {};
    const isRefused = new Promise<void>((resolve) => {
      noteFault = resolve;
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
    try {
      const logger = { ...silentLogger, warn: noteFault };
      await using rotating = await RotatingToken.open({ store: counted, path: path(), terms: { ttlMs: 9000 }, logger });
      await store.revoke(rotating.grantId);
      vi.advanceTimersByTime(6001);
      await isRefused;
      await vi.advanceTimersByTimeAsync(60_000);
      expect(asked).toBe(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it('keeps the token before out of logs as long as it opens, and no longer', async () => {
    const known = new Set<string>();
    const secrets = { add: (token: string) => void known.add(token), delete: (token: string) => void known.delete(token) };
    await using rotating = await RotatingToken.open({ store, path: path(), secrets });
    const tokens = [await tokenInFile()];
    for (let count = 0; count < 2; count += 1) {
      await rotating.renew();
      tokens.push(await tokenInFile());
      expect([...known]).toEqual(tokens.slice(-2));
    }
  });

  it('leaves no grant behind when its first token cannot be written', async () => {
    await expect(RotatingToken.open({ store, path: join(dir, 'none', 'token') })).rejects.toMatchObject({ code: 'write_failed' });
    expect(store.list()).toEqual([]);
  });
});
