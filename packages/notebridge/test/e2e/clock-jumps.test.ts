// @module-tag deep
// @module-tag P-173

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createHome, Program } from '../support/program.js';
import { ServedHub } from '../support/served-hub.js';
import { type SettableClock, settableClock, whyNoClock } from '../support/set-clock.js';
import { fixtureServer } from '../support/upstreams.js';

let clock: SettableClock;
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'notebridge-clock-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  clock = settableClock(join(folder, 'clock'));
});

async function serve(): Promise<ServedHub> {
  const changing = { command: process.execPath, args: [fixtureServer('changing.mjs'), '1', 'silently'] };
  const hub = await ServedHub.start({ servers: { changing }, args: ['--notebook', 'none'], env: clock.env });
  // Commands of the user have the true time.
  for (const name of Object.keys(clock.env)) delete hub.env[name];
  return hub;
}

const statusOf = async (hub: ServedHub, token: string, tool = 'first'): Promise<number> =>
  (await hub.call('changing', tool, {}, token)).status;

describe('when the clock of a running hub is set', () => {
  beforeEach(({ skip }) => skip(whyNoClock !== undefined, whyNoClock));

  it('back, a grant ends no later for it', async () => {
    await using hub = await serve();
    const { token } = await hub.grant('--ttl', '20s');
    expect(await statusOf(hub, token)).toBe(200);
    clock.set('-1d');
    expect(await statusOf(hub, token)).toBe(200);
    await expect.poll(() => statusOf(hub, token)).toBe(401);
    const { answer } = await hub.call('changing', 'first', {}, token);
    expect(JSON.stringify(answer)).toContain('expired');
  });

  it('forward, a grant has ended; and lives for the rest of its time if that was a mistake', async () => {
    await using hub = await serve();
    const { token } = await hub.grant('--ttl', '1h');
    clock.set('+1d');
    expect(await statusOf(hub, token)).toBe(401);
    clock.set('+0');
    expect(await statusOf(hub, token)).toBe(200);
  });

  it('either way, a rate stays what it is', async () => {
    await using hub = await serve();
    // Its server is there: the calls are no half minute apart.
    expect(await statusOf(hub, hub.ownerToken)).toBe(200);
    const { token } = await hub.grant('--ttl', '30d', '--rate', '2/m');
    const statuses = [await statusOf(hub, token), await statusOf(hub, token)];
    for (const offset of ['+1d', '-1d', '+0']) {
      clock.set(offset);
      statuses.push(await statusOf(hub, token));
    }
    expect(statuses).toEqual([200, 200, 429, 429, 429]);
  });

  it('either way, servers are asked again for their tools, and the audit stays in the order of the calls', async () => {
    await using hub = await serve();
    const { ownerToken } = hub;
    for (const [version, offset] of [
      ['2', '-1d'],
      ['3', '+1d'],
      ['4', '-2d'],
    ] as const) {
      expect(await statusOf(hub, ownerToken)).toBe(200);
      clock.set(offset);
      await hub.call('changing', 'become', { version }, ownerToken);
      // A list is good for a second.
      const answer = async () => JSON.stringify((await hub.call('changing', `only_${version}`, {}, ownerToken)).answer);
      await expect.poll(answer).toContain('"success":true');
    }
    await hub.stop();
    const lines = readFileSync(join(hub.stateDir, 'audit.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as JsonObject);
    const found = lines.filter(({ tool, outcome }) => /^only_/.test(String(tool)) && outcome === 'ok').map(({ tool }) => tool);
    expect(found).toEqual(['only_2', 'only_3', 'only_4']);
    for (const { duration_ms } of lines) {
      expect(duration_ms).toBeGreaterThanOrEqual(0);
      expect(duration_ms).toBeLessThan(60_000);
    }
  });
});

describe('when the clock of a kept grant is set forward, as after the machine slept', () => {
  beforeEach(({ skip }) => skip(whyNoClock !== undefined, whyNoClock));

  it.each(['+50m', '+90m'])('the token is renewed at %s, also if it has expired meanwhile', async (offset) => {
    const { home, env } = createHome();
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const file = join(home, 'kept');
    await using keeper = new Program({ args: ['grant', '--keep', '--file', file, '--ttl', '1h'], env: { ...env, ...clock.env } });
    await keeper.until(() => keeper.stderr.includes('is renewed there'));
    const first = readFileSync(file, 'utf8');
    clock.set(offset);
    await expect.poll(() => readFileSync(file, 'utf8')).not.toBe(first);
    keeper.child.kill('SIGTERM');
    expect(await keeper.ended).toBe(0);
  });
});
