import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '@notebridge/protocol/util/logger';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GrantStore } from './grant-store.js';

let dir: string;
let clock: number;
const opened: GrantStore[] = [];
const now = (): number => clock;
const open = async (logger?: Logger): Promise<GrantStore> => {
  const store = await GrantStore.open({ dir, now, ...(logger === undefined ? {} : { logger }) });
  opened.push(store);
  return store;
};
const grantsFile = (): string => join(dir, 'grants.json');

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'notebridge-grants-'));
  clock = 1_800_000_000_000;
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close().catch(() => {});
  await rm(dir, { recursive: true, force: true });
});

describe('GrantStore', () => {
  it('issues a token that opens its grant and is nowhere on the disk', { tags: ['P-131'] }, async () => {
    const store = await open();
    const { token, id } = await store.issue({ allow: ['github:*'], label: 'for a kernel' });
    expect(token).toMatch(/^nbg_[\w-]{43}$/);
    expect(store.find(token)).toMatchObject({ id, allow: ['github:*'], door: 'tools', readOnly: false });
    const texts = await Promise.all((await readdir(dir)).map((name) => readFile(join(dir, name), 'utf8')));
    expect(texts.join()).not.toContain(token.slice(4));
    expect(texts.join()).toContain('for a kernel');
    expect((await stat(grantsFile())).mode & 0o777).toBe(0o600);
  });

  it('opens what another process issued at once, and nothing of what it revoked after the next look', async () => {
    const [hub, command] = [await open(), await open()];
    const issued = await command.issue();
    expect(hub.find(issued.token)).toMatchObject({ id: issued.id });
    expect(await command.revoke(issued.id)).toBe(true);
    await expect.poll(() => hub.find(issued.token)).toBe('revoked');
    expect(hub.get(issued.id)).toBe('revoked');
    expect(await command.revoke(issued.id)).toBe(false);
    expect(await command.revoke('g_000000000000')).toBe(false);
  });

  it('loses no grant when several processes issue at the same time', async () => {
    const stores = await Promise.all([open(), open(), open()]);
    const issued = await Promise.all(Array.from({ length: 30 }, (_, index) => stores[index % 3]?.issue({ label: `l${index}` })));
    const labels = stores[0]?.list().map(({ label }) => label);
    expect(new Set(labels)).toEqual(new Set(issued.map((grant) => grant?.label)));
    expect((await readdir(dir)).sort()).toEqual(['grants.json']);
  });

  it('ends a grant when its time is over, and forgets why an hour later', { tags: ['P-130'] }, async () => {
    const store = await open();
    const { token, id } = await store.issue({ ttlMs: 1000 });
    clock += 999;
    expect(store.find(token)).toMatchObject({ id });
    clock += 1;
    expect(store.find(token)).toBe('expired');
    expect(store.list()).toEqual([]);
    clock += 3_600_001;
    await store.issue();
    expect(store.find(token)).toBe('unknown');
    expect(await readFile(grantsFile(), 'utf8')).not.toContain(id);
  });

  it.each(['', 'nbg_', `nbg_${'a'.repeat(43)}`, `nbo_${'a'.repeat(43)}`, 'x'.repeat(100_000), 'nbg_\u0000'])(
    'knows nothing of %.20j',
    async (token) => {
      const store = await open();
      await store.issue();
      expect(store.find(token)).toBe('unknown');
    },
  );

  it('renews the token of a grant; the one before opens for a minute longer, the one before that no more', async () => {
    const store = await open();
    const first = await store.issue({ ttlMs: 90_000, calls: 5 });
    clock += 60_000;
    const second = await store.renew(first.id, 90_000);
    expect(second.id).toBe(first.id);
    expect(store.find(first.token)).toMatchObject({ id: first.id });
    clock += 29_999;
    expect(store.find(first.token)).toMatchObject({ id: first.id });
    clock += 1;
    expect(store.find(first.token)).toBe('expired');
    expect(store.find(second.token)).toMatchObject({ id: first.id, calls: 5 });
    await store.renew(first.id);
    expect(store.find(first.token)).toBe('unknown');
    await store.revoke(first.id);
    expect(store.find(second.token)).toBe('revoked');
    await expect(store.renew(first.id)).rejects.toMatchObject({ code: 'bad_grant', data: { reason: 'revoked' } });
  });

  it('renews nothing that was revoked after it had expired', { tags: ['P-616'] }, async () => {
    const store = await open();
    const { id, token } = await store.issue({ ttlMs: 1000 });
    clock += 2000;
    expect(store.find(token)).toBe('expired');
    expect(await store.revoke(id)).toBe(true);
    await expect(store.renew(id)).rejects.toMatchObject({ code: 'bad_grant', data: { reason: 'revoked' } });
    expect(await store.revoke(id)).toBe(false);
  });

  it('takes exactly the budget, over parallel calls and several processes, and again after they were closed', {
    tags: ['P-128'],
  }, async () => {
    const [one, two] = [await open(), await open()];
    const { token, id } = await one.issue({ calls: 100 });
    const take = async (store: GrantStore): Promise<boolean> => {
      const grant = store.find(token);
      if (typeof grant === 'string') throw new Error(grant);
      return store.takeCall(grant);
    };
    const first = await Promise.all(Array.from({ length: 30 }, () => take(one)));
    expect(first.every(Boolean)).toBe(true);
    await one.close();
    expect((await open()).list()).toMatchObject([{ id, used: 30 }]);
    const rest = await Promise.all(Array.from({ length: 1000 }, () => take(two)));
    expect(rest.filter(Boolean)).toHaveLength(70);
    expect(await take(await open())).toBe(false);
  });

  it('forgives no call when a process is killed: what it had taken in advance is used', { tags: ['P-128'] }, async () => {
    const killed = await open();
    const { token } = await killed.issue({ calls: 8 });
    const grant = killed.find(token);
    if (typeof grant === 'string') throw new Error(grant);
    expect(await killed.takeCall(grant)).toBe(true);
    // Not closed: as the file is now, a killed process leaves it.
    const after = await open();
    expect(after.list()).toMatchObject([{ calls: 8, used: 2 }]);
    expect(killed.list()).toMatchObject([{ calls: 8, used: 1 }]);
  });

  it('counts the calls of grants without a budget, and writes them down at close', async () => {
    const store = await open();
    const { token } = await store.issue();
    const grant = store.find(token);
    if (typeof grant === 'string') throw new Error(grant);
    for (let call = 0; call < 3; call++) expect(store.takeCall(grant)).toBe(true);
    expect(store.list()).toMatchObject([{ used: 3 }]);
    await store.close();
    await store.close();
    expect((await open()).list()).toMatchObject([{ used: 3 }]);
    await expect(store.issue()).rejects.toMatchObject({ code: 'closed' });
  });

  it.each([
    [{ ttlMs: 0 }, 'ttlMs'],
    [{ ttlMs: 31 * 24 * 3_600_000 }, 'ttlMs'],
    [{ ttlMs: 1.5 }, 'ttlMs'],
    [{ calls: 0 }, 'calls'],
    [{ perMinute: -1 }, 'perMinute'],
    [{ concurrent: Number.NaN }, 'concurrent'],
    [{ label: 'a\u001b[31m' }, 'label'],
    [{ label: 'x'.repeat(201) }, 'label'],
    [{ door: 'page' as 'agent' }, 'door'],
    [{ readOnly: 'yes' as unknown as boolean }, 'readOnly'],
  ])('refuses the terms %j and names the wrong one', async (terms, term) => {
    const store = await open();
    await expect(store.issue(terms)).rejects.toMatchObject({ code: 'bad_usage', data: { term } });
    expect(store.list()).toEqual([]);
  });

  it('issues a thousand and no more, until one has ended', async () => {
    const store = await open();
    const one = await store.issue();
    const file = JSON.parse(await readFile(grantsFile(), 'utf8')) as { grants: { id: string; hash: string }[] };
    const [model] = file.grants;
    for (let index = 0; index < 999; index++) {
      const id = `g_${index.toString(16).padStart(12, '0')}`;
      file.grants.push({ ...model, id, hash: index.toString(16).padStart(64, '0') });
    }
    await writeFile(grantsFile(), JSON.stringify(file));
    await expect(store.issue()).rejects.toMatchObject({ code: 'limit_reached' });
    await store.revoke(one.id);
    await expect(store.issue()).resolves.toMatchObject({ door: 'tools' });
  });
});

describe('a file of grants that was tampered with', { tags: ['P-132'] }, () => {
  const broken = ['', '{', '[]', '{"version":2,"grants":[]}', '{"version":1,"grants":[{}]}', '{"version":1,"grants":[null]}'];

  it.each(broken)('is refused at the start: %j', async (text) => {
    await writeFile(grantsFile(), text, { mode: 0o600 });
    await expect(GrantStore.open({ dir })).rejects.toMatchObject({ code: 'write_failed', data: { reason: 'not_grants' } });
    expect(await readFile(grantsFile(), 'utf8')).toBe(text);
  });

  it('opens nothing while it is broken, says so once, and opens again when it is whole', async () => {
    const errors: string[] = [];
    const ignore = (): void => {};
    const store = await open({ debug: ignore, info: ignore, warn: ignore, error: (message) => errors.push(message) });
    const { token, id } = await store.issue();
    const whole = await readFile(grantsFile(), 'utf8');
    await writeFile(grantsFile(), whole.slice(0, -20));
    await expect.poll(() => store.find(token)).toBe('unknown');
    store.list();
    expect(errors).toEqual([expect.stringContaining('is no file of grants any more')]);
    await expect(store.issue()).rejects.toMatchObject({ code: 'write_failed' });
    await writeFile(grantsFile(), whole);
    expect(store.find(token)).toMatchObject({ id });
  });

  it('does not widen a grant by a term that was taken out or changed to nonsense', async () => {
    const store = await open();
    await store.issue({ readOnly: true, calls: 1 });
    const whole = await readFile(grantsFile(), 'utf8');
    for (const [from, to] of [
      ['"readOnly"', '"other"'],
      ['"calls": 1', '"calls": "many"'],
      ['"allow"', '"permit"'],
      ['"used": 0', '"used": -5'],
    ]) {
      await writeFile(grantsFile(), whole.replace(from ?? '', to ?? ''));
      await expect(GrantStore.open({ dir })).rejects.toMatchObject({ data: { reason: 'not_grants' } });
    }
  });

  it('revokes all grants when it is removed', async () => {
    const store = await open();
    const { token } = await store.issue();
    await rm(grantsFile());
    await expect.poll(() => store.find(token)).toBe('unknown');
    expect(store.list()).toEqual([]);
  });

  it('is refused when others may read or write it, or its folder', async () => {
    const store = await open();
    const { token } = await store.issue();
    await chmod(grantsFile(), 0o622);
    await expect(GrantStore.open({ dir })).rejects.toMatchObject({ message: expect.stringContaining(`chmod 600 "${grantsFile()}"`) });
    await expect.poll(() => store.find(token)).toBe('unknown');
    await chmod(grantsFile(), 0o600);
    await chmod(dir, 0o755);
    await expect(GrantStore.open({ dir })).rejects.toMatchObject({ message: expect.stringContaining('is open to other users (mode 755)') });
  });

  it('is not followed when it is a link', async () => {
    await writeFile(join(dir, 'elsewhere'), '{"version":1,"grants":[]}', { mode: 0o600 });
    await symlink('elsewhere', grantsFile());
    await expect(GrantStore.open({ dir })).rejects.toMatchObject({
      ...{ code: 'write_failed', data: { reason: 'ELOOP' } },
      message: expect.stringMatching(/is a link\. Move it away\.$/),
    });
  });

  it('is refused when it belongs to another user', async ({ skip }) => {
    skip(process.geteuid?.() !== 0, 'only root may give files away');
    await writeFile(grantsFile(), '{"version":1,"grants":[]}', { mode: 0o600 });
    const { chown } = await import('node:fs/promises');
    await chown(grantsFile(), 65_534, 65_534);
    await expect(GrantStore.open({ dir })).rejects.toMatchObject({
      message: expect.stringContaining('belongs to another user (uid 65534'),
    });
  });

  it('is written after a process was killed that held its lock', async () => {
    const store = await open();
    const { utimes } = await import('node:fs/promises');
    await writeFile(`${grantsFile()}.lock`, 'of a dead one');
    const before = new Date(Date.now() - 10_000);
    await utimes(`${grantsFile()}.lock`, before, before);
    await expect(store.issue()).resolves.toMatchObject({ used: 0 });
    expect(await readdir(dir)).toEqual(['grants.json']);
  });
});
