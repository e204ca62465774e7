// @module-tag P-175
// @module-tag P-176

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '@notebridge/protocol/core/errors';
import type { Principal } from '@notebridge/protocol/core/principal';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createContext } from '../../test/support/create-context.js';
import { classOfMethod } from '../../test/support/mcp-methods.js';
import { Hub } from '../hub.js';
import { createHubGuard, type HubGuard } from './hub-guard.js';
import { NotebookPlace } from './notebooks/open-notebook.js';
import { readSettings } from './settings.js';

const methods = Object.getOwnPropertyNames(classOfMethod);
let home: string;
let layer: HubGuard;
let hub: Hub;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'notebridge-layer-'));
  const settings = await readSettings({ env: { XDG_CONFIG_HOME: home, XDG_STATE_HOME: home } });
  layer = createHubGuard(settings, { servers: undefined, place: new NotebookPlace() });
  hub = new Hub();
  hub.addMiddleware(layer.middleware);
});
afterEach(async () => {
  await layer.close();
  rmSync(home, { recursive: true, force: true });
});

/** The methods of which a message of the principal reached the inside, and with what the others were refused. */
async function sendAll(principal: Principal | undefined): Promise<{ reached: string[]; codes: Set<string | undefined> }> {
  const caller = { sessionId: 's', door: 'tool-proxy', era: 'legacy', clientInfo: undefined, ...(principal && { principal }) } as const;
  const reached: string[] = [];
  const codes = new Set<string | undefined>();
  for (const method of methods) {
    const sent = hub.request(createContext(method, { name: 'get_cells' }, { caller }), async () => {
      reached.push(method);
      return { tools: [] };
    });
    await sent.catch((error: unknown) => codes.add(codeOf(error)));
  }
  return { reached, codes };
}

describe('the guard of a process that serves its owner', () => {
  it('keeps a grant that it does not know from every provider, from the first message on', async () => {
    const { reached, codes } = await sendAll({ kind: 'grant', grantId: 'g_000000000000' });
    expect([reached, codes]).toEqual([[], new Set(['bad_grant', 'denied'])]);
  });

  it('lets the owner through, and a grant as far as it goes until it is revoked', async () => {
    expect((await sendAll(undefined)).reached).toEqual(methods);
    const store = await layer.open();
    const { id } = await store.issue({ allow: ['notebook:get_*'] });
    const { reached } = await sendAll({ kind: 'grant', grantId: id });
    expect(reached).toEqual(methods.filter((method) => ['free', 'call', 'list'].includes(classOfMethod[method] ?? '')));
    await store.revoke(id);
    expect((await sendAll({ kind: 'grant', grantId: id })).reached).toEqual([]);
  });

  it('refuses what it does not know to an anonymous caller', async () => {
    const { reached } = await sendAll({ kind: 'anonymous' });
    expect(reached).toEqual(methods.filter((method) => classOfMethod[method] !== 'unknown'));
  });

  it('holds code to the rights it was given, also where grants cannot be looked up, until they end', async () => {
    mkdirSync(join(home, 'notebridge'), { mode: 0o700 });
    writeFileSync(join(home, 'notebridge', 'grants.json'), 'broken', { mode: 0o600 });
    const { principal, join: joinCaller, end } = layer.delegate([{ kind: 'owner' }], { label: 'code', allow: ['notebook:get_*'] });
    expect((await sendAll(principal)).reached).toContain('tools/call');
    expect((await sendAll(principal)).reached).not.toContain('resources/read');
    joinCaller({ kind: 'grant', grantId: 'g_000000000000' });
    expect(await sendAll(principal)).toMatchObject({ reached: [], codes: new Set(['bad_grant', 'denied']) });
    const other = layer.delegate([{ kind: 'owner' }], { label: 'code' });
    end();
    other.end();
    expect((await sendAll(other.principal)).reached).toEqual([]);
    const late = layer.delegate([{ kind: 'owner' }], { label: 'code' });
    await layer.close();
    expect((await sendAll(late.principal)).reached).toEqual([]);
  });

  it('opens nothing any more once it is closed', async () => {
    await layer.close();
    layer.refusals.add({ door: 'window', reason: 'missing', remoteAddress: '127.0.0.1' });
    await expect(layer.open()).rejects.toMatchObject({ code: 'closed' });
    expect((await sendAll({ kind: 'anonymous' })).reached).toEqual([]);
    expect(existsSync(join(home, 'notebridge'))).toBe(false);
  });

  it("records the owner's calls whether or not the grants can be read, and opens nothing before the first", async () => {
    const folder = join(home, 'notebridge');
    await hub.request(createContext('tools/list'), async () => ({ tools: [] }));
    expect(existsSync(folder)).toBe(false);
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(join(folder, 'grants.json'), 'broken', { mode: 0o600 });
    await sendAll(undefined);
    await layer.close();
    expect(readFileSync(join(folder, 'audit.jsonl'), 'utf8')).toContain('"tool":"get_cells","outcome":"ok"');
  });

  it('opens nothing to any caller but the owner where grants cannot be looked up', async () => {
    mkdirSync(join(home, 'notebridge'), { mode: 0o700 });
    writeFileSync(join(home, 'notebridge', 'grants.json'), 'broken', { mode: 0o600 });
    for (const principal of [{ kind: 'grant', grantId: 'g_000000000000' }, { kind: 'anonymous' }] as const) {
      expect(await sendAll(principal)).toEqual({ reached: [], codes: new Set(['denied']) });
    }
    expect((await sendAll({ kind: 'owner' })).reached).toEqual(methods);
  });
});
