import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Nats, natsProgram, whyNoNats } from '../support/nats.js';
import { runProgram } from '../support/program.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

interface Sight {
  cluster: string;
  nats: { server: string; version: string };
  hubs: { name: string; id: string; version: string; isDraining: boolean; load: number; has: { kind: string; name: string }[] }[];
  foreign: number;
}

describe.skipIf(natsProgram === undefined)(`commands that look at a cluster${whyNoNats}`, () => {
  let folder: string;
  let nats: Nats;
  let hub: ServedHub;
  let key: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cluster-commands-'));
    key = join(folder, 'key');
    writeFileSync(key, 'k'.repeat(40), { mode: 0o600 });
    nats = await Nats.start();
    const shop = { command: process.execPath, args: [fixtureServer('approvals.mjs'), 'none'], placement: 'one' };
    hub = await ServedHub.start({
      servers: { shop },
      notebridge: { cluster: { url: 'nats://127.0.0.1:1', key, hubName: 'hub-a', audit: false } },
      args: ['--notebook', 'none', '--cluster', nats.url],
    });
  });
  afterAll(async () => {
    await hub?.[Symbol.asyncDispose]();
    await nats?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  const configOf = (cluster: JsonObject): string => {
    const file = join(folder, `${Math.random()}.json`);
    writeFileSync(file, JSON.stringify({ notebridge: { cluster: { url: nats.url, key, ...cluster } } }));
    return file;
  };
  const ps = async (args: string[], env: Record<string, string> = {}) => runProgram(['ps', ...args], { env });
  const see = async (args: string[]): Promise<Sight> => {
    const { stdout, stderr } = await ps(['--json', ...args]);
    expect(stderr).toBe('');
    return JSON.parse(stdout) as Sight;
  };

  it('ps --cluster lists the hubs and what each has', { tags: ['P-542'] }, async () => {
    const args = ['--cluster', '--config', configOf({})];
    await expect.poll(async () => (await see(args)).hubs[0]?.has).toEqual([expect.objectContaining({ kind: 'server', name: 'shop' })]);
    const sight = await see(args);
    expect(sight).toMatchObject({
      cluster: 'notebridge',
      nats: { server: nats.url.slice(7), version: expect.stringMatching(/^2\.15\./) },
      foreign: 0,
    });
    expect(sight.hubs).toMatchObject([{ name: 'hub-a', isDraining: false, load: 0 }]);
    // Until its server has started, that is said behind its name.
    await expect
      .poll(async () => (await ps(args)).stdout)
      .toMatch(/^HUB +ID +VERSION +SINCE +CALLS +STATE +ADDRESS +HAS\nhub-a .* serving .*server shop\n$/);
  });

  it('ps --cluster takes the NATS of its option or of NOTEBRIDGE_CLUSTER, and the key of the state folder', {
    tags: ['deep', 'P-542'],
  }, async () => {
    const env = stateWithKey();
    for (const words of [
      ['--cluster', nats.url],
      ['--cluster', `nats://127.0.0.1:1,${nats.url}`],
    ]) {
      expect((await ps(words, env)).stdout).toContain('hub-a');
    }
    expect((await ps([], { ...env, NOTEBRIDGE_CLUSTER: nats.url })).stdout).toContain('hub-a');
  });

  it('show no password of an address of NATS that is wrong, or leads nowhere', { tags: ['deep'] }, async () => {
    const secret = 'a-secret-of-25-characters';
    const env = stateWithKey();
    const wrong = `nats://h/b:${secret}@127.0.0.1:1`;
    const tries = [
      await ps(['--cluster', `hub:x@${secret}@127.0.0.1:1`], env),
      await ps(['--cluster', wrong], env),
      await ps(['--cluster', '--config', configOf({ url: wrong })], env),
      await ps([], { ...env, NOTEBRIDGE_CLUSTER: wrong }),
    ];
    for (const { ending, stdout, stderr } of tries) {
      expect([ending === 0, stderr]).toEqual([false, expect.stringMatching(/NATS/)]);
      expect(stdout + stderr).not.toContain(secret);
    }
  });

  it('ps --cluster and doctor say that two hubs have one name', { tags: ['deep', 'P-543'] }, async () => {
    const second = await ServedHub.start({
      notebridge: { cluster: { url: nats.url, key, hubName: 'hub-a', audit: false } },
      args: ['--notebook', 'none'],
    });
    const args = ['--config', configOf({ audit: false })];
    try {
      expect((await ps(['--cluster', ...args])).stdout).toMatch(/^Several hubs are called "hub-a": give each a "hubName" of its own/m);
      const { stdout } = await runProgram(['doctor', '--no-kernel', '--port', '0', ...args]);
      expect(stdout).toMatch(/^note +cluster hubs: several hubs are called "hub-a"\n.*hubName/m);
    } finally {
      await second[Symbol.asyncDispose]();
    }
    // One that was ended in order is gone at once.
    expect((await see(['--cluster', ...args])).hubs.map(({ name }) => name)).toEqual(['hub-a']);
  });

  it('ps --cluster says what is missing, and shows no password', { tags: ['deep', 'P-542'] }, async () => {
    const failing = async (args: string[]): Promise<string> => {
      const { ending, stderr } = await ps(args);
      expect(ending).not.toBe(0);
      return stderr;
    };
    expect(await failing(['--cluster'])).toMatch(/No cluster is configured/);
    expect(await failing(['--cluster', nats.url])).toMatch(/there is no ".*cluster-key"\. Copy it from a hub/);
    expect(await failing(['--cluster', '--config', configOf({ url: 'nats://u:secret-word@127.0.0.1:1' })])).toMatch(
      /Cannot reach NATS at "nats:\/\/127/,
    );
    expect(await failing(['--cluster', '--config', configOf({ name: 'other' })])).toMatch(/No hub has ever joined the cluster "other"/);
    const wrong = await failing(['--cluster', 'http://u:secret-word@host']);
    expect(wrong).toMatch(/address of NATS/);
    const other = join(folder, 'other-key');
    writeFileSync(other, 'x'.repeat(40), { mode: 0o600 });
    const { stdout } = await ps(['--cluster', '--config', configOf({ key: other })]);
    expect(stdout).toMatch(/No hub is in the cluster "notebridge"\.\n1 more has another key/);
  });

  it('a hub that cannot join says why and where, and what keeps it out once NATS is there', {
    timeout: 240_000,
    tags: ['deep', 'P-609'],
  }, async () => {
    await using away = await Nats.start({ config: { authorization: { user: 'hub', password: 'password' } } });
    await away.nodes[0]?.kill();
    // The pause between two tries goes on behind the wait of the start: then nothing else keeps the process alive.
    const longer = toModule(
      'const { setTimeout } = globalThis; globalThis.setTimeout = (f, ms) => setTimeout(f, ms === 2000 ? 4000 : ms);',
    );
    await using hub = await ServedHub.start({
      notebridge: { cluster: { url: away.url, key } },
      args: ['--notebook', 'none'],
      env: { NODE_OPTIONS: `--import=${longer}` },
    });
    const said = (): string[] => hub.log().flatMap(({ level, msg }) => (level === 'info' ? [] : [String(msg)]));
    expect(said()).toEqual([
      expect.stringContaining(`Cannot reach NATS at "${away.url}": connection refused.`),
      expect.stringContaining('has not joined its cluster yet, and goes on trying'),
    ]);
    await away.nodes[0]?.start();
    await hub.logged('This hub does not join its cluster, until it is started again.');
    expect(said()[2]).toMatch(/NATS does not let this hub in: .* Look at "notebridge\.cluster\.credentials"/);
  });

  it('the client of NATS is named where it is missing, with the command that installs it; without a cluster nothing is missing', {
    tags: ['deep', 'P-540'],
  }, async () => {
    const refuses = toModule(`export const resolve = (name, context, next) =>
      next(name.startsWith('@nats-io/') ? '@nats-io/is-not-there' : name, context);`);
    const registers = toModule(`import { register } from 'node:module'; register(${JSON.stringify(refuses)});`);
    const without = { NODE_OPTIONS: `--import=${registers}` };
    const { ending, stderr } = await ps(['--cluster', '--config', configOf({})], without);
    expect(ending).not.toBe(0);
    expect(stderr).toMatch(
      /needs the client of NATS: Cannot find package '@nats-io\/is-not-there'\. .*npm install @nats-io\/transport-node@3 @nats-io\/jetstream@3/,
    );
    expect(await ps([], without)).toMatchObject({ ending: 0, stdout: expect.stringContaining('No hub') });
  });

  it('doctor looks at NATS, the rights there, the key, the clock and the hubs', { tags: ['deep', 'P-543'] }, async () => {
    const doctor = async (cluster: JsonObject) => {
      const { stdout } = await runProgram(['doctor', '--json', '--no-kernel', '--port', '0', '--config', configOf(cluster)]);
      const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string; found: string; next?: string }[] };
      return Object.fromEntries(checks.filter(({ name }) => name.startsWith('cluster')).map(({ name, ...check }) => [name, check]));
    };
    expect(await doctor({ audit: false })).toMatchObject({
      'cluster key': { status: 'ok', found: expect.stringContaining(key) },
      cluster: {
        status: 'ok',
        found: expect.stringMatching(/"notebridge" at nats-server 2\.15\.\d+ \(127\.0\.0\.1:\d+\), with every right/),
      },
      'cluster store': { status: 'note', found: expect.stringContaining('one server of NATS') },
      'cluster clock': { status: 'ok' },
      'cluster hubs': { status: 'ok', found: 'hub-a' },
    });
    const open = join(folder, 'open-key');
    writeFileSync(open, 'k'.repeat(40));
    expect(await doctor({ key: open, url: 'nats://127.0.0.1:1' })).toEqual({
      'cluster key': { status: 'fault', found: expect.stringMatching(/others can read it.*chmod 600/), next: expect.any(String) },
      cluster: { status: 'fault', found: expect.stringContaining('Cannot reach NATS at "nats://127.0.0.1:1"'), next: expect.any(String) },
    });
  });

  function toModule(code: string): string {
    return `data:text/javascript,${encodeURIComponent(code)}`;
  }

  /** A state folder with the key in its place. */
  function stateWithKey(): { XDG_STATE_HOME: string } {
    const state = join(folder, 'state');
    mkdirSync(join(state, 'notebridge'), { recursive: true, mode: 0o700 });
    writeFileSync(join(state, 'notebridge/cluster-key'), 'k'.repeat(40), { mode: 0o600 });
    return { XDG_STATE_HOME: state };
  }
});
