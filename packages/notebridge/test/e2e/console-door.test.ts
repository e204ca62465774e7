import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHome, programFile, runProgram } from '../support/program.js';
import { rawRequest } from '../support/raw-http.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

describe('the console', () => {
  let hub: ServedHub;
  beforeAll(async () => {
    const servers = { notes: { command: process.execPath, args: [fixtureServer('changing.mjs')] } };
    hub = await ServedHub.start({ servers, args: ['--notebook', 'none'] });
  });
  afterAll(() => hub[Symbol.asyncDispose]());

  const newCode = async (): Promise<string> => {
    const { ending, stdout } = await hub.run('console', '--no-browser');
    expect(ending).toBe(0);
    const [, code] = new RegExp(`^${hub.url}/console#code=([\\w-]{40,})\\n$`).exec(stdout) ?? [];
    return code ?? '';
  };
  const enter = (code: string) => hub.request('/console/enter', { method: 'POST', token: code });
  const open = async (): Promise<string> => (await enter(await newCode())).text();

  it('is opened by an address, once, and its tab is the owner from then on', { tags: ['P-482'] }, async () => {
    const code = await newCode();
    const token = await (await enter(code)).text();
    expect(token).toMatch(/^nbc_[\w-]{43}$/);
    const again = await enter(code);
    expect(again.status).toBe(410);
    expect(await again.json()).toMatchObject({ detail: expect.stringContaining('Run `notebridge console` again') });
    expect(await (await hub.request('/api/v1/hub', { token })).json()).toMatchObject({ pid: hub.pid });
    expect((await hub.call('notes', 'first', {}, token)).answer).toMatchObject({ success: true });
  });

  it('gives a tab no more than a tab needs: no further address, and nothing after it has signed out', { tags: ['P-482'] }, async () => {
    const [token, other] = [await open(), await open()];
    const links = (by: string) => hub.request('/api/v1/hub/console/links', { token: by, body: {} });
    expect((await links(hub.ownerToken)).status).toBe(200);
    expect((await links(token)).status).toBe(401);
    expect((await links((await hub.grant()).token)).status).toBe(403);
    expect((await hub.request('/console/leave', { method: 'POST', token })).status).toBe(204);
    expect((await hub.request('/api/v1/hub', { token })).status).toBe(401);
    expect((await hub.request('/api/v1/hub', { token: other })).status).toBe(200);
  });

  it('answers guesses ever more slowly, and says what to do', { tags: ['P-483'] }, async () => {
    const startedAt = performance.now();
    for (let tries = 0; tries < 5; tries++) {
      const guess = await enter(`guess-${tries}`);
      expect(guess.status).toBe(403);
      expect(await guess.json()).toMatchObject({ detail: expect.stringContaining('Run `notebridge console` again') });
    }
    expect(performance.now() - startedAt).toBeGreaterThan(200);
    expect((await enter(await newCode())).status).toBe(200);
  });

  it('is shown in no frame, reaches no other server, and holds nothing that is secret', { tags: ['P-483'] }, async () => {
    const page = await hub.request('/console');
    const policy = page.headers.get('content-security-policy');
    for (const rule of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "trusted-types 'none'"])
      expect(policy).toContain(rule);
    expect(policy).not.toContain('unsafe');
    const html = await page.text();
    const files = [...html.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, path = '']) => path);
    expect(files.length).toBeGreaterThan(2);
    for (const path of files) {
      const file = await hub.request(path);
      expect([path, file.status]).toEqual([path, 200]);
      expect(file.headers.get('x-content-type-options')).toBe('nosniff');
    }
    // As they stand: a client of ours would leave out dots.
    for (const target of ['/console/none.js', '/console/..%2fpackage.json', '/console/index.html', '/console/%2e%2e', '/console/..'])
      expect([target, (await rawRequest(hub.port, { target })).status]).toEqual([target, 404]);
  });

  it('pages of other sites can neither enter nor ask', { tags: ['P-483'] }, async () => {
    const [code, token] = [await newCode(), await open()];
    for (const from of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
      const entering = await rawRequest(hub.port, {
        method: 'POST',
        target: '/console/enter',
        headers: { authorization: `Bearer ${code}`, ...from },
      });
      expect(entering.status).toBe(403);
      const asking = await rawRequest(hub.port, { target: '/api/v1/hub', headers: { authorization: `Bearer ${token}`, ...from } });
      expect(asking.status).toBe(403);
    }
    expect((await enter(code)).status).toBe(200);
  });

  it('leaves no code and no token in the log', { tags: ['P-483'] }, async () => {
    const code = await newCode();
    const token = await (await enter(code)).text();
    await hub.call('notes', 'become', { version: `${code} ${token}` }, token);
    const { stdout } = await hub.run('logs');
    const calls = (await (await hub.request('/api/v1/hub/calls', { token })).json()) as { calls: JsonObject[] };
    const [last] = calls.calls;
    const whole = await (await hub.request(`/api/v1/hub/calls/${String(last?.id)}`, { token })).text();
    for (const text of [stdout, hub.stderr, whole]) for (const secret of [code, token]) expect(text).not.toContain(secret);
    expect(whole).toContain('[redacted]');
  });

  it('is opened by the address that a terminal shows when the hub starts, and no log has', { tags: ['deep'] }, async ({ skip }) => {
    skip(process.platform === 'win32', 'Python has no terminals on Windows');
    expect(hub.stderr).not.toContain('#code=');
    const { home, env } = createHome();
    const serve = [process.execPath, programFile, 'serve', '--port', '0', '--notebook', 'none'];
    // A terminal of its own, which ends with our end of the pipe.
    const onTerminal = 'import pty, sys; pty.spawn(sys.argv[1:])';
    const terminal = spawn('python3', ['-c', onTerminal, ...serve], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    try {
      let shown = '';
      terminal.stdout.setEncoding('utf8').on('data', (piece: string) => {
        shown += piece;
      });
      await expect.poll(() => shown).toContain('Described at');
      const [, origin = '', code = ''] = /(http:[\w.:/]+)\/console#code=([\w-]+)/.exec(shown) ?? [];
      const entering = () => fetch(`${origin}/console/enter`, { method: 'POST', headers: { authorization: `Bearer ${code}` } });
      expect([(await entering()).status, (await entering()).status]).toEqual([200, 410]);
    } finally {
      // Ctrl-C, as a person ends it.
      terminal.stdin.end('\x03');
      await once(terminal, 'close');
      rmSync(home, { recursive: true, force: true });
    }
  });

  it('stands where a person lands who opens the address of the hub', { tags: ['deep'] }, async () => {
    for (const path of ['/', '/console/']) {
      const answer = await fetch(new URL(path, hub.url));
      expect([answer.url, answer.headers.get('content-type')]).toEqual([`${hub.url}/console`, 'text/html; charset=utf-8']);
      await answer.text();
    }
  });

  it('says what to do where no hub runs', { tags: ['deep'] }, async () => {
    const { home, env } = createHome();
    try {
      expect(await runProgram(['console'], { env })).toMatchObject({ ending: 1, stderr: expect.stringContaining('No hub of yours runs') });
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });
});
