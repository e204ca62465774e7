import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { owner } from '@notebridge/protocol/core/principal';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import type { LeftSession } from '@notebridge/system/files/session-shelf';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { KeptSessions } from './kept-sessions.js';

let dir: string;
let nowMs = 0;
const warnings: string[] = [];
const logger: Logger = { ...silentLogger, warn: (text) => warnings.push(text) };
const ofGrant = (grantId: string) => ({ kind: 'grant' as const, grantId });
const session: LeftSession = { principal: ofGrant('g1'), version: '2025-11-25', said: [{ method: 'initialize' }] };
const start = (name = 'hub'): KeptSessions => new KeptSessions({ dir, name, logger, now: () => nowMs });

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'kept-sessions-'));
  nowMs = 1_000_000;
  warnings.length = 0;
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

it('are given once, to their principal, by the next start of the same name', { tags: ['P-712'] }, async () => {
  const last = start();
  expect(await Promise.all([last.leave('k1', session), last.leave('k2', { ...session, principal: { kind: 'owner' } })])).toEqual([
    true,
    true,
  ]);
  expect(await start('other').take('k1', ofGrant('g1'))).toBeUndefined();
  const next = start();
  expect(await next.take('k1', ofGrant('g2'))).toBeUndefined();
  expect(await next.take('k1', { kind: 'owner' })).toBeUndefined();
  expect(await next.take('k1', ofGrant('g1'))).toEqual(session);
  expect(await next.take('k1', ofGrant('g1'))).toBeUndefined();
  // What nobody came for is left to the start behind the next.
  expect(await next.leave('k3', session)).toBe(true);
  expect(await start().take('k2', { kind: 'owner' })).toMatchObject({ version: '2025-11-25' });
});

it.each([
  ['a minute later', 60_000, true],
  ['after more than a minute', 60_001, false],
  ['where the clock was set back', -1, false],
])('%s: %#', { tags: ['P-712'] }, async (_, laterMs, isThere) => {
  await start().leave('k', session);
  nowMs += laterMs;
  expect((await start().take('k', ofGrant('g1'))) !== undefined).toBe(isThere);
});

it.each([
  '',
  'null',
  '{"sessions":1}',
  '{"sessions":[1,{},{"digest":"d","leftAt":1,"session":{}},{"digest":"d","leftAt":1000000,"session":{"principal":{},"version":"1","said":[1]}}]}',
])('a file of %j has none', async (text) => {
  writeFileSync(join(dir, 'sessions.json'), text, { mode: 0o600 });
  expect(await start().take('k', ofGrant('g1'))).toBeUndefined();
});

it('a file that others may read is not used, and is said', async () => {
  await start().leave('k', session);
  const file = join(dir, 'sessions.json');
  const text = readFileSync(file, 'utf8');
  rmSync(file);
  writeFileSync(file, text, { mode: 0o644 });
  expect(await start().take('k', ofGrant('g1'))).toBeUndefined();
  expect(warnings).toEqual(['The sessions of the last start are not used: agents begin anew.']);
});

it('a principal that leaves many or large ones gives up its own oldest, and nobody else one', { tags: ['P-712'] }, async () => {
  const last = start();
  const large = { ...session, said: [{ text: 'x'.repeat(190_000) }] };
  const small = { ...session, principal: ofGrant('g2') };
  const many = (from: number) => Array.from({ length: 15 }, (_, at) => last.leave(`large ${from + at}`, large));
  const are = await Promise.all([
    last.leave('first', small),
    ...many(0),
    last.leave('owner', { ...session, principal: owner }),
    ...many(15),
  ]);
  expect(are.map(Number).join('')).toBe(`1${'0'.repeat(9)}${'1'.repeat(6)}1${'1'.repeat(15)}`);
  const next = start();
  expect(await next.take('first', ofGrant('g2'))).toEqual(small);
  expect(await next.take('owner', owner)).toBeDefined();
  expect(await next.take('large 8', ofGrant('g1'))).toBeUndefined();
  expect(await next.take('large 9', ofGrant('g1'))).toEqual(large);
});

it('a start that ends before an agent has come leaves them to the next', { tags: ['P-712'] }, async () => {
  await start().leave('k', session);
  const failed = start();
  failed.open();
  expect(await start().take('k', ofGrant('g1'))).toBeUndefined();
  await failed.close();
  expect(await start().take('k', ofGrant('g1'))).toEqual(session);
});

it('what is too large is not kept, and the rest is', async () => {
  const last = start();
  const large = { ...session, said: [{ text: 'x'.repeat(200_000) }] };
  expect(await Promise.all([last.leave('large', large), last.leave('small', session)])).toEqual([false, true]);
  expect(await start().take('small', ofGrant('g1'))).toEqual(session);
});
