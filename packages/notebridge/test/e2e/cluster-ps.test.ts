// @module-tag deep
// @module-tag P-542

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HubCluster } from '../support/hub-cluster.js';
import { natsProgram, whyNoNats } from '../support/nats.js';
import { pauseProcess } from '../support/pause-process.js';
import { runProgram } from '../support/program.js';
import { fixtureServer } from '../support/upstreams.js';

interface SeenHub {
  name: string;
  answers: boolean;
  has: { kind: string; name: string; epoch?: number; about: JsonObject }[];
}

describe.skipIf(natsProgram === undefined)(`what hubs of a cluster have for themselves${whyNoNats}`, () => {
  let cluster: HubCluster;
  let folder: string;
  let config: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cluster-ps-'));
    const command = { command: process.execPath, args: [fixtureServer('approvals.mjs'), 'none'] };
    cluster = await HubCluster.start({
      names: ['one', 'two'],
      servers: (name) => ({
        alone: { ...command, placement: 'one' },
        own: command,
        later: { ...command, lazy: true },
        off: { ...command, disabled: true },
        ...(name === 'two' && { broken: { command: process.execPath, args: ['-e', 'process.exit(3)'] } }),
      }),
      args: (name) => ['--no-browser', '--notebook', name === 'one' ? 'local' : 'none'],
    });
    config = join(folder, 'mcp.json');
    writeFileSync(config, JSON.stringify({ notebridge: { cluster: { url: cluster.nats.urls, key: cluster.keyFile } } }));
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const ps = async (...args: string[]): Promise<string> => {
    const { stdout, stderr } = await runProgram(['ps', '--cluster', '--config', config, ...args]);
    expect(stderr).toBe('');
    return stdout;
  };
  const seen = async (): Promise<Record<string, SeenHub>> => {
    const { hubs } = JSON.parse(await ps('--json')) as { hubs: SeenHub[] };
    return Object.fromEntries(hubs.map((hub) => [hub.name, hub]));
  };
  const find = (hub: SeenHub | undefined, name: string) => hub?.has.find((one) => one.name === name);

  it('is shown by ps --cluster: servers of its own with their state, and notebooks', async () => {
    await expect
      .poll(async () => {
        const { one, two } = await seen();
        return [find(one, 'own'), find(two, 'own'), find(two, 'broken'), find(one, 'alone') ?? find(two, 'alone')].map(
          (found) => found?.about.status,
        );
      })
      .toEqual(['running', 'running', 'failed', 'running']);
    let { one, two } = await seen();
    // One that is slow is left out.
    await expect
      .poll(async () => {
        ({ one, two } = await seen());
        return [one?.answers, two?.answers];
      })
      .toEqual([true, true]);
    expect(find(one, 'own')).toEqual({ kind: 'server', name: 'own', about: { placement: 'each', status: 'running' } });
    expect(find(one, 'later')?.about).toEqual({ placement: 'each', status: 'stopped' });
    expect([find(one, 'off'), find(one, 'broken')]).toEqual([undefined, undefined]);
    // Of the one server only its claim is told.
    expect([...(one?.has ?? []), ...(two?.has ?? [])].filter(({ name }) => name === 'alone')).toEqual([
      { kind: 'server', name: 'alone', epoch: 1, about: expect.objectContaining({ status: 'running' }) },
    ]);
    expect(one?.has.filter(({ kind }) => kind === 'notebook')).toEqual([
      {
        kind: 'notebook',
        name: expect.stringMatching(/^nb\d+$/),
        about: expect.objectContaining({ title: expect.any(String), holder: null }),
      },
    ]);
    expect(two?.has.filter(({ kind }) => kind === 'notebook')).toEqual([]);

    const table = await ps();
    expect(table).toMatch(/^one .*server own.*, notebook nb\d+$/m);
    expect(table).toMatch(/^two .*server broken \(failed\)/m);
    expect(table).not.toContain('later');
    expect(table).not.toContain('did not say');
  });

  it('is not waited for where a hub does not answer, which is said', async () => {
    const { child } = cluster.hub('two');
    /** Anew each time: the place of a hub that is stopped ends after a while, and one that is slow is left out as well. */
    const whileStopped = async <T>(look: () => Promise<T>): Promise<T> => {
      await expect.poll(async () => (await seen()).two?.answers).toBe(true);
      await pauseProcess(child.pid as number);
      try {
        return await look();
      } finally {
        child.kill('SIGCONT');
      }
    };
    const silent = /^The hub "two" did not say within 3 s what it has for itself/m;
    const isAsWanted = (table: string) => /^one .*server own/m.test(table) && silent.test(table) && !table.includes('The hub "one"');
    await expect.poll(() => whileStopped(() => ps()), { timeout: 90_000 }).toSatisfy(isAsWanted);
    const answers = async () => {
      const { one, two } = await seen();
      return [one?.answers, two?.answers ?? false];
    };
    await expect.poll(() => whileStopped(answers), { timeout: 90_000 }).toEqual([true, false]);
    await expect.poll(async () => (await seen()).two?.answers).toBe(true);
  });
});
