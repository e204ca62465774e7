// @module-tag P-197

import { codeLifeMs, EntryCodes, openedLifeMs } from '@notebridge/system/net/entry-codes';
import { describe, expect, it } from 'vitest';
import { startHost } from './support/hosts.js';
import { enter, openWindow, refusalOf } from './support/window.js';

describe('the address of a window', () => {
  it('opens one window, once; the next address opens another', async () => {
    const host = await startHost();
    const { url } = host;
    expect(new URL(url).hash).not.toBe(new URL(host.url).hash);
    await openWindow(url);
    expect(await enter(url)).toEqual({ status: 410, text: 'used' });
    await openWindow(host.url);
    expect(host.openWindows).toBe(2);
  });

  it('holds nothing that a socket takes', async () => {
    const host = await startHost();
    const code = new URL(host.url).hash.slice('#token='.length);
    expect(await refusalOf(host.url, { ticket: code })).toMatchObject({ status: 403 });
  });

  it('is good for a page of our own origin only, and is not used up by another', async () => {
    const { url } = await startHost();
    const body = new URL(url).hash.slice('#token='.length);
    const from = async (origin: string | undefined) =>
      (await fetch(new URL('/enter', url), { method: 'POST', headers: origin === undefined ? {} : { origin }, body })).status;
    expect(await from('https://evil.example')).toBe(403);
    expect(await from('http://localhost:1')).toBe(403);
    expect(await from(undefined)).toBe(403);
    expect(await from('null')).toBe(403);
    expect((await enter(url)).status).toBe(200);
  });

  it.each([
    ['a wrong one', 'x'.repeat(43)],
    ['none', ''],
    ['far too much', 'x'.repeat(1_000_000)],
  ])('refuses %s, and goes on', async (_, body) => {
    const { url } = await startHost();
    const { origin } = new URL(url);
    const answer = await fetch(new URL('/enter', url), { method: 'POST', headers: { origin }, body }).catch(() => undefined);
    if (answer) expect(answer.status).toBe(403);
    expect((await enter(url)).status).toBe(200);
  });

  it('answers what is too long for the token of an address, too', async () => {
    const { url } = await startHost();
    const { origin } = new URL(url);
    const answer = await fetch(new URL('/enter', url), { method: 'POST', headers: { origin }, body: 'x'.repeat(300) });
    expect({ status: answer.status, text: await answer.text() }).toEqual({ status: 403, text: 'unknown' });
  });

  it('leaves a trace of whoever is not let in by it', async () => {
    const refused: string[] = [];
    const { url } = await startHost({ onRefused: (why, remoteAddress) => refused.push(`${why} ${remoteAddress !== undefined}`) });
    const from = (origin: string, body: string) => fetch(new URL('/enter', url), { method: 'POST', headers: { origin }, body });
    const { origin } = new URL(url);
    await from('https://evil.example', 'x');
    await from(origin, 'x'.repeat(43));
    await from(origin, 'x'.repeat(300));
    await enter(url);
    await enter(url);
    expect(refused).toEqual(['wrong_origin true', 'unknown true', 'malformed true', 'expired true']);
  });

  it('tells whoever keeps logs clean of each token', async () => {
    const secrets: string[] = [];
    const host = await startHost({ onSecret: (secret) => secrets.push(secret) });
    const code = new URL(host.url).hash.slice('#token='.length);
    const { text } = await enter(host.url);
    expect(secrets).toContain(code);
    expect(secrets).toContain(text);
  });
});

describe('one-time tokens', () => {
  it('end by themselves, and are told from those that never were', () => {
    let nowMs = 0;
    const codes = new EntryCodes(() => nowMs);
    const [early, late] = [codes.issue(), codes.issue()];
    nowMs = codeLifeMs;
    expect(codes.redeem(early)).toBe('good');
    expect(codes.redeem(early)).toBe('used');
    nowMs = codeLifeMs + 1;
    expect(codes.redeem(late)).toBe('expired');
    expect(codes.redeem('made up')).toBe('unknown');
  });

  it('end after a minute where a browser is started with them', () => {
    let nowMs = 0;
    const codes = new EntryCodes(() => nowMs);
    const [early, late] = [codes.issue(openedLifeMs), codes.issue(openedLifeMs)];
    nowMs = 60_000;
    expect(codes.redeem(early)).toBe('good');
    nowMs = 60_001;
    expect(codes.redeem(late)).toBe('expired');
  });

  it('are remembered up to a number', () => {
    const codes = new EntryCodes();
    const all = Array.from({ length: 100 }, () => codes.issue());
    expect(codes.redeem(all[0] ?? '')).toBe('unknown');
    expect(codes.redeem(all.at(-1) ?? '')).toBe('good');
  });
});
