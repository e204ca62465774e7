// @module-tag P-468

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openAtHub } from '../support/asked-agent.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer, linesOf } from '../support/upstreams.js';

const slow = 240_000;

it.each(['legacy', 'modern'] as const)(
  'a yes for the session, at an agent of the %s era, ends when the config has another program under that name',
  async (era) => {
    const folder = mkdtempSync(join(tmpdir(), 'notebridge-attacked-'));
    const shop = (file: string) => ({ shop: { command: process.execPath, args: [fixtureServer('approvals.mjs'), join(folder, file)] } });
    try {
      await using hub = await ServedHub.start({ servers: shop('one'), notebridge: { approve: 'writes' }, args: ['--notebook', 'none'] });
      const answers = [{ action: 'accept', content: { decision: 'session' } }];
      const agent = await openAtHub(hub, { era, answer: () => answers.shift() ?? { action: 'decline' } });
      try {
        for (const n of [1, 2]) expect(await agent.call('shop__add', { n })).toBe('add done');
        hub.writeConfig(shop('two'), { approve: 'writes' });
        await hub.logged('The config was changed.');
        await expect(agent.call('shop__add', { n: 3 })).rejects.toThrow('declined');
        expect([agent.asked.length, linesOf(join(folder, 'one')).length, linesOf(join(folder, 'two'))]).toEqual([2, 2, []]);
      } finally {
        await agent.close();
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  slow,
);

it(
  'a yes for the session does not outlast the definition: a call at once after the list has changed, or the program was started anew, is asked about',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'notebridge-attacked-'));
    const args = [fixtureServer('approvals.mjs'), join(folder, 'calls'), 'redefines'];
    try {
      const servers = { shop: { command: process.execPath, args } };
      await using hub = await ServedHub.start({ servers, notebridge: { approve: 'writes' }, args: ['--notebook', 'none'] });
      const agent = await openAtHub(hub, { era: 'legacy', answer: () => ({ action: 'accept', content: { decision: 'session' } }) });
      try {
        const calls = { 'the same': {}, redefined: {}, restarted: { ends: true } };
        const asked = [];
        for (const [how, toRead] of Object.entries(calls)) {
          if (how !== 'the same') await agent.call('shop__read', toRead).catch(() => undefined);
          for (const n of [1, 2]) await agent.call('shop__add', { n });
          asked.push(agent.asked.length);
        }
        expect(asked).toEqual([1, 2, 3]);
      } finally {
        await agent.close();
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  slow,
);
