// @module-tag P-179

import type { JsonObject } from '@notebridge/protocol/json';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type RefusedEntry, toRefusedLine } from './audit-line.js';
import { Refusals, remoteClassOf } from './refusals.js';

let now = 0;
let lines: JsonObject[];
let logged: [string, JsonObject | undefined][];
let refusals: Refusals;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  now = 0;
  lines = [];
  logged = [];
  const audit = { add: (entry: RefusedEntry) => void lines.push(JSON.parse(toRefusedLine(entry)) as JsonObject) };
  const logger = { ...silentLogger, warn: (text: string, fields?: JsonObject) => void logged.push([text, fields]) };
  refusals = new Refusals({ audit, logger, now: () => now });
});
afterEach(() => {
  refusals.close();
  vi.useRealTimers();
});
const attempt = (reason: string, more: Partial<Parameters<Refusals['add']>[0]> = {}) =>
  refusals.add({ door: 'http', reason, remoteAddress: '127.0.0.1', ...more });

describe('Refusals', () => {
  it('writes the first of a kind at once, and the others as a count when the minute is over', () => {
    for (let count = 0; count < 10_000; count++) {
      now = count;
      attempt('unknown');
    }
    attempt('expired', { grantId: 'g_1', remoteAddress: '192.0.2.1' });
    expect(lines).toEqual([
      expect.objectContaining({ outcome: 'refused', reason: 'unknown', principal: 'unknown', door: 'http', remote: 'loopback', times: 1 }),
      expect.objectContaining({ reason: 'expired', principal: 'grant', grant_id: 'g_1', remote: 'public', times: 1 }),
    ]);
    expect(logged).toEqual([]);
    vi.advanceTimersByTime(60_000);
    expect(lines.slice(2)).toEqual([
      expect.objectContaining({ reason: 'unknown', times: 9999, since: new Date(0).toISOString(), time: new Date(9999).toISOString() }),
    ]);
    expect(logged).toEqual([
      ['10001 requests were refused within a minute. The audit has more.', { times: 10_001, unknown: 10_000, expired: 1 }],
    ]);
  });

  it('refers to no audit where there is none', () => {
    const texts: string[] = [];
    const alone = new Refusals({ logger: { ...silentLogger, warn: (text: string) => void texts.push(text) }, now: () => now });
    alone.add({ door: 'page', reason: 'unknown', remoteAddress: undefined });
    alone.close();
    expect(texts).toEqual(['A request was refused within a minute.']);
  });

  it('begins anew after the minute, and keeps no timer while nothing is refused', () => {
    attempt('missing');
    vi.advanceTimersByTime(60_000);
    expect(vi.getTimerCount()).toBe(0);
    attempt('missing');
    expect(lines).toHaveLength(2);
    refusals.close();
    refusals.close();
    expect(vi.getTimerCount()).toBe(0);
    expect(logged).toHaveLength(2);
    attempt('missing');
    expect(lines).toHaveLength(2);
  });

  it('keeps no more than so many kinds, and counts the rest together', () => {
    for (let count = 0; count < 5000; count++) attempt('revoked', { grantId: `g_${count}` });
    expect(lines).toHaveLength(257);
    refusals.flush();
    expect(lines).toHaveLength(258);
    expect(lines.at(-1)).toMatchObject({ reason: 'other', times: 5000 - 257 });
  });
});

describe('remoteClassOf', () => {
  it.each([
    ['127.0.0.1', 'loopback'],
    ['127.9.9.9', 'loopback'],
    ['::1', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['10.1.2.3', 'private'],
    ['172.31.0.1', 'private'],
    ['172.32.0.1', 'public'],
    ['::ffff:192.168.1.1', 'private'],
    ['fe80::1%eth0', 'private'],
    ['fd00::1', 'private'],
    ['2001:db8::1', 'public'],
    ['', 'unknown'],
    [undefined, 'unknown'],
    ['evil', 'unknown'],
  ])('%s is %s', (address, expected) => {
    expect(remoteClassOf(address)).toBe(expected);
  });
});
