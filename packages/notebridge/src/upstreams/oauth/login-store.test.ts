import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { LoginStore, type StoredLogin } from './login-store.js';

const server = 'https://mcp.test/mcp';
const login = (accessToken: string, loggedInAt = 1): Omit<StoredLogin, 'server'> => ({
  issuer: 'https://login.test',
  discovery: { authorizationServerUrl: 'https://login.test' },
  client: { client_id: 'c' },
  tokens: { access_token: accessToken, token_type: 'Bearer' },
  loggedInAt,
});
const tokenOf = (store: LoginStore): string | undefined => store.read()?.tokens.access_token;

let dir: string;
beforeEach(async () => {
  dir = join(await mkdtemp(join(tmpdir(), 'notebridge-logins-')), 'logins');
});
afterEach(() => rm(join(dir, '..'), { recursive: true, force: true }));

describe('LoginStore', () => {
  it('has one login for all processes of the user, in a private file, and each finds what another one has changed', {
    tags: ['P-362'],
  }, async () => {
    const [hub, command] = [new LoginStore(server, dir), new LoginStore(server, dir)];
    expect(hub.read()).toBeUndefined();
    await command.save(login('one'));
    expect([tokenOf(hub), tokenOf(command)]).toEqual(['one', 'one']);
    await command.save(login('another'));
    expect(tokenOf(hub)).toBe('another');
    const [name = ''] = await readdir(dir);
    expect((await stat(join(dir, name))).mode & 0o777).toBe(0o600);
    command.remove();
    expect(hub.read()).toBeUndefined();
    expect(await readdir(dir)).toEqual([]);
  });

  it('is kept in memory where there is no folder', async () => {
    const store = new LoginStore(server, undefined);
    await store.save(login('one'));
    expect(tokenOf(store)).toBe('one');
    store.remove();
    expect(store.read()).toBeUndefined();
  });

  it.each([
    ['another server', 'https://mcp.test/mcp', 'https://evil.test/mcp'],
    ['another authorization server', '"issuer": "https://login.test"', '"issuer": "https://evil.test"'],
    ['no token', '"access_token"', '"no_token"'],
    ['no client', '"client_id"', '"no_id"'],
    ['another format', '"format": 1', '"format": 2'],
  ])('has no login in a file that was edited to be of %s: a token goes nowhere else', { tags: ['P-362'] }, async (_, from, to) => {
    await new LoginStore(server, dir).save(login('one'));
    const path = join(dir, (await readdir(dir))[0] ?? '');
    await writeFile(path, (await readFile(path, 'utf8')).replaceAll(from, to));
    expect(new LoginStore(server, dir).read()).toBeUndefined();
  });

  it('tells of a login and a logout in another process, and not of a token that was only renewed', { tags: ['P-362'] }, async () => {
    const [hub, command] = [new LoginStore(server, dir), new LoginStore(server, dir)];
    let tell = (_token: string | undefined): void => {};
    const next = () => new Promise<string | undefined>((resolve) => (tell = resolve));
    const watch = hub.watch(() => tell(tokenOf(hub)));
    onTestFinished(watch.stop);
    const first = next();
    await command.save(login('one'));
    expect(await first).toBe('one');
    const second = next();
    await command.save(login('renewed'));
    // Only this one is told: another person logs in.
    await expect.poll(() => watch.hasChanged(), { timeout: 15_000 }).toBe(false);
    await command.save(login('other', 2));
    expect(await second).toBe('other');
    const third = next();
    command.remove();
    expect(await third).toBeUndefined();
  });
});
