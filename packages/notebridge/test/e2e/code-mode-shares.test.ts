// @module-tag deep
// @module-tag P-460

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type CodeAgent, toHttpCodeAgent } from '../support/code-mode.js';
import { openModernAgent } from '../support/http-agent.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer, linesOf } from '../support/upstreams.js';

const slow = 240_000;

type HttpAgent = Pick<CodeAgent, 'execute'>;

describe('four Pythons that several share', () => {
  let folder: string;
  let hub: ServedHub;
  let owner: HttpAgent;
  const openGrant = async (): Promise<HttpAgent> => {
    const { token } = await hub.grant('--door', 'agent', '--allow', 'code-mode:*', '--allow', 'calls:*');
    return toHttpCodeAgent(openModernAgent(hub, () => token));
  };
  let lastKey = 0;
  /** Code that waits for ever in a Python of its own. Returns its run_id once it runs. */
  const keepBusy = async (agent: HttpAgent): Promise<unknown> => {
    const key = `busy-${++lastKey}`;
    const code = `import asyncio\nfrom generated.mcp.calls import count\nawait count(n="${key}")\nawait asyncio.Event().wait()`;
    const { runId } = await agent.execute({ code, session: 'new', wait_seconds: 0 });
    await vi.waitUntil(() => linesOf(join(folder, 'count')).includes(`count ${key}`), { timeout: 60_000 });
    return runId;
  };
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
    const calls = { command: process.execPath, args: [fixtureServer('calls.mjs'), join(folder, 'count')] };
    const notebridge = { codeMode: { kernels: 4, seconds: 600 } };
    hub = await ServedHub.start({ servers: { calls }, notebridge, args: ['--code-mode', '--notebook', 'none'] });
    owner = toHttpCodeAgent(openModernAgent(hub, () => hub.ownerToken));
  }, slow);
  afterEach(async () => {
    await hub[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  it(
    'are never all of one grant, whose busy ones nobody ends: the owner and another grant get one',
    async () => {
      const [greedy, other] = [await openGrant(), await openGrant()];
      const runs = [await keepBusy(greedy), await keepBusy(greedy), await keepBusy(greedy)];
      for (const more of [{ session: 'new' }, { kernel: 'fresh' }]) {
        const refused = await greedy.execute({ code: '1', ...more });
        expect(refused).toMatchObject({ isError: true, code: 'limit_reached' });
        expect(refused.texts[0]).toContain('(3 of 4)');
      }
      for (const agent of [owner, other, owner, other]) expect(await agent.execute({ code: '20 + 22' })).toMatchObject({ result: '42' });
      expect(await other.execute({ code: '1', kernel: 'fresh' })).toMatchObject({ result: '1' });
      for (const run_id of runs) expect(await greedy.execute({ run_id, wait_seconds: 0 })).toMatchObject({ status: 'running' });
    },
    slow,
  );

  it(
    'are never all of the owner either',
    async () => {
      for (let n = 0; n < 3; n++) await keepBusy(owner);
      expect(await owner.execute({ code: '1' })).toMatchObject({ code: 'limit_reached' });
      expect(await (await openGrant()).execute({ code: '20 + 22' })).toMatchObject({ result: '42' });
    },
    slow,
  );

  it(
    'idle interpreters are ended of who has most of them, oldest first',
    async () => {
      const [greedy, other] = [await openGrant(), await openGrant()];
      // Idle for longest, and yet it stays.
      const { session: ofOwner } = await owner.execute({ code: 'mine = "owner"' });
      const sessions = [];
      for (let n = 0; n < 3; n++) sessions.push((await greedy.execute({ code: `mine = ${n}`, session: 'new' })).session);
      expect(await other.execute({ code: '20 + 22' })).toMatchObject({ result: '42' });
      expect(await owner.execute({ code: 'mine', session: ofOwner })).toMatchObject({ result: "'owner'" });
      for (const n of [1, 2]) expect(await greedy.execute({ code: 'mine', session: sessions[n] })).toMatchObject({ result: String(n) });
      const lost = await greedy.execute({ code: '"mine" in globals()', session: sessions[0] });
      expect(lost).toMatchObject({ result: 'False' });
      expect(lost.texts.join('\n')).toContain('The variables of before are gone');
    },
    slow,
  );

  it(
    'idle interpreters that one has make room for its own next one',
    async () => {
      const greedy = await openGrant();
      const sessions = [];
      for (let n = 0; n < 5; n++) sessions.push((await greedy.execute({ code: `mine = ${n}`, session: 'new' })).session);
      for (const n of [2, 3, 4]) expect(await greedy.execute({ code: 'mine', session: sessions[n] })).toMatchObject({ result: String(n) });
      expect(await greedy.execute({ code: '"mine" in globals()', session: sessions[0] })).toMatchObject({ result: 'False' });
    },
    slow,
  );
});
