// @module-tag deep

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Nats, natsProgram, whyNoNats } from '../support/nats.js';
import { runProgram } from '../support/program.js';
import { ServedHub, type ServersForTest } from '../support/served-hub.js';
import { fixtureServer, linesOf } from '../support/upstreams.js';

type Checks = Record<string, { status: string; found: string; next?: string }>;

describe.skipIf(natsProgram === undefined)(`a server of which a cluster has one${whyNoNats}`, () => {
  let folder: string;
  let nats: Nats;
  let key: string;
  let idsFile: string;
  let servers: ServersForTest;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cluster-doctor-'));
    key = join(folder, 'key');
    writeFileSync(key, 'k'.repeat(40), { mode: 0o600 });
    idsFile = join(folder, 'ids');
    writeFileSync(idsFile, '');
    const one = { command: process.execPath, args: [fixtureServer('family.mjs'), idsFile], placement: 'one' };
    servers = {
      one,
      later: { ...one, lazy: true },
      broken: { command: process.execPath, args: ['-e', 'process.exit(3)'], placement: 'one' },
      each: { command: process.execPath, args: [fixtureServer('approvals.mjs'), 'none'] },
    };
    nats = await Nats.start();
  });
  afterAll(async () => {
    await nats?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  /** How many processes of the servers were ever started: three for each start. */
  const started = (): number => linesOf(idsFile).length;
  const configOf = (cluster?: JsonObject): string => {
    const file = join(folder, `${Math.random()}.json`);
    const notebridge = cluster === undefined ? {} : { cluster: { url: nats.url, key, audit: false, ...cluster } };
    writeFileSync(file, JSON.stringify({ mcpServers: servers, notebridge }));
    return file;
  };
  const doctor = async (config: string, env: Record<string, string> = {}): Promise<Checks> => {
    const { stdout } = await runProgram(['doctor', '--json', '--no-kernel', '--port', '0', '--config', config], { env });
    const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string; found: string; next?: string }[] };
    return Object.fromEntries(checks.filter(({ name }) => name.startsWith('server ')).map(({ name, ...check }) => [name.slice(7), check]));
  };

  it('is not started by doctor while no hub has it, which says what to start', { tags: ['P-585'] }, async () => {
    const before = started();
    const checks = await doctor(configOf({}));
    expect(checks.one).toEqual({
      status: 'note',
      found: expect.stringMatching(/^no hub of the cluster has it just now; it was not started here/),
      next: expect.stringContaining('notebridge serve'),
    });
    expect(checks.later).toEqual(checks.one);
    expect(checks.each).toMatchObject({ status: 'ok', found: 'starts and lists 5 tools' });
    expect(started()).toBe(before);
  });

  it('is not started by doctor while NATS is away', { tags: ['P-585'] }, async () => {
    const before = started();
    const checks = await doctor(configOf({ url: 'nats://127.0.0.1:1' }));
    expect(checks.one).toMatchObject({ status: 'note', found: expect.stringMatching(/^not started here, .* could not be asked$/) });
    expect(started()).toBe(before);
  });

  // Each doctor starts what is to be started: on a machine with much else to do four take more than a minute.
  it('is not started by doctor while a hub has it, which says which hub that is, and how it is there', {
    timeout: 400_000,
    tags: ['P-585'],
  }, async () => {
    await using hub = await ServedHub.start({
      servers,
      notebridge: { cluster: { url: nats.url, key, hubName: 'hub-a', audit: false } },
      args: ['--notebook', 'none'],
    });
    await expect
      .poll(() => doctor(configOf({})), { timeout: 120_000 })
      .toMatchObject({
        one: { status: 'ok', found: 'the hub "hub-a" of the cluster has it: running. It was not started a second time' },
        later: { status: 'ok', found: expect.stringMatching(/^no hub of the cluster has it just now; .* The first call starts it$/) },
        broken: {
          status: 'fault',
          found: expect.stringContaining('the hub "hub-a" of the cluster has it: failed'),
          next: expect.any(String),
        },
        each: { status: 'ok' },
      });
    // By the hub, and by nobody else.
    expect(started()).toBe(3);
    // Of a user whose hub was given its cluster by an option, or whose doctor does not reach it, that hub is asked.
    for (const config of [configOf(), configOf({ url: 'nats://127.0.0.1:1' })])
      expect(await doctor(config, hub.env)).toMatchObject({
        one: { status: 'ok', found: 'a hub of the cluster has it, as your running hub says: running. It was not started a second time' },
        broken: { status: 'fault' },
        each: { status: 'ok', found: 'starts and lists 5 tools' },
      });
    expect(started()).toBe(3);
  });

  it('is not started by commands that run the servers of a config themselves', { tags: ['P-585'] }, async () => {
    const before = started();
    const config = configOf({});
    const run = (...args: string[]) => runProgram([...args, '--config', config]);
    const { servers: listed } = JSON.parse((await run('servers', '--json')).stdout) as { servers: JsonObject[] };
    const why = 'The cluster "notebridge" has one server "one", which a hub of it runs: it is not started here.';
    expect(listed).toContainEqual(expect.objectContaining({ name: 'one', status: 'stopped', reason: why, tools: null }));
    expect(listed).toContainEqual(expect.objectContaining({ name: 'each', status: 'running' }));
    for (const args of [
      ['tools', 'one'],
      ['call', 'one', 'echo'],
      ['call', 'later', 'echo', '{}'],
    ]) {
      const { ending, stdout, stderr } = await run(...args);
      expect([ending, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/is not started here\. Ask by a hub of yours, without --config: .*serve starts one\./);
    }
    expect((await run('tools', 'each', '--json')).stdout).toContain('"plain"');
    expect(started()).toBe(before);
  });

  it('is started by doctor as any other where there is no cluster', async () => {
    const before = started();
    expect((await doctor(configOf())).one).toMatchObject({ status: 'ok', found: 'starts and lists 2 tools' });
    expect(started()).toBe(before + 6);
  });
});
