// @module-tag deep
// @module-tag P-716

import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CutRelay } from '../support/cut-relay.js';
import { Nats, natsProgram, whyNoNats } from '../support/nats.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';
import { type LoadedHub, type ReadyChange, RollingLoad } from './rolling-load.js';

/** `NOTEBRIDGE_ROLLING_SECONDS=600`: as many rounds as begin in that time. `NOTEBRIDGE_ROLLING_REPORT`: a file for the calls and the readiness. */
const seconds = Number(process.env.NOTEBRIDGE_ROLLING_SECONDS ?? 1);
const reportFile = process.env.NOTEBRIDGE_ROLLING_REPORT;
const ledgerServer = fileURLToPath(new URL('ledger-server.mjs', import.meta.url));
const soon = { timeout: 60_000, interval: 50 };

/** Three hubs with one ledger, each with a way of its own to NATS. */
class Site implements AsyncDisposable {
  readonly hubs = new Map<string, ServedHub>();
  readonly relays = new Map<string, CutRelay>();
  readonly folder = mkdtempSync(join(tmpdir(), 'rolling-'));
  readonly ledger = join(this.folder, 'ledger');
  readonly keyFile = join(this.folder, 'key');
  readonly nats: Nats;
  grant = '';

  private constructor(nats: Nats) {
    this.nats = nats;
    writeFileSync(this.ledger, '');
    writeFileSync(this.keyFile, randomBytes(32).toString('base64url'), { mode: 0o600 });
  }

  static async open(names: readonly string[]): Promise<Site> {
    const site = new Site(await Nats.start());
    try {
      for (const name of names) site.relays.set(name, await CutRelay.to(site.nats.url));
      await Promise.all(names.map((name) => site.start(name)));
      site.grant = (await site.hub('a').grant('--allow', 'ledger:*')).token;
      return site;
    } catch (error) {
      await site[Symbol.asyncDispose]();
      throw error;
    }
  }

  hub(name: string): ServedHub {
    const hub = this.hubs.get(name);
    if (hub === undefined) throw new Error(`There is no hub "${name}".`);
    return hub;
  }

  servers(more: Record<string, JsonObject> = {}): Record<string, JsonObject> {
    return { ledger: { command: process.execPath, args: [ledgerServer, this.ledger] }, ...more };
  }

  notebridge(name: string): JsonObject {
    return { cluster: { url: [this.relays.get(name)?.url], key: this.keyFile, hubName: name, drainMs: 5000 } };
  }

  /** Starts it, or again: in its home, at its port. */
  async start(name: string): Promise<void> {
    const before = this.hubs.get(name);
    const options = { servers: this.servers(), notebridge: this.notebridge(name), args: ['--notebook', 'none'], port: before?.port ?? 0 };
    this.hubs.set(name, await ServedHub.start(options, before));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.hubs.values()].map((hub) => hub[Symbol.asyncDispose]()));
    for (const relay of this.relays.values()) await relay[Symbol.asyncDispose]();
    await this.nats[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

describe.skipIf(natsProgram === undefined)(`hubs under load${whyNoNats}`, () => {
  it('that are restarted one by one, get a bad config and lose NATS: each call got one result, or was refused before it began', {
    timeout: (seconds + 300) * 1000,
  }, async () => {
    const names = ['a', 'b', 'c'];
    const site = await Site.open(names);
    onTestFinished(() => site[Symbol.asyncDispose]());
    const hubs = names.map(
      (name): LoadedHub => ({
        name,
        get served() {
          return site.hub(name);
        },
        tokens: () => [site.hub(name).ownerToken, site.grant],
      }),
    );
    const load = new RollingLoad(hubs);
    const phases: { phase: string; from: number; to: number; hub?: string }[] = [];
    const during = async (phase: string, hub: string | undefined, work: () => Promise<void>): Promise<void> => {
      const from = load.seconds * 1000;
      await work();
      phases.push({ phase, from, to: load.seconds * 1000, ...(hub !== undefined && { hub }) });
    };
    const until = (state: RegExp, ...of: string[]): Promise<void> =>
      expect.poll(() => of.map((name) => load.state(name)).filter((found) => !state.test(found)), soon).toEqual([]);
    await until(/^200 ok$/, ...names);
    const begun = load.seconds * 1000;
    do {
      await during('a bad config', undefined, () => pushBadConfig(site, names));
      for (const name of names)
        await during('a restart', name, async () => {
          await site.hub(name).stop();
          await site.start(name);
          await until(/^200 ok$/, name);
        });
      await during('cut off from NATS', 'c', async () => {
        site.relays.get('c')?.cut();
        await until(/^503 cut_off$/, 'c');
        await until(/^200 ok$/, 'a', 'b');
        site.relays.get('c')?.mend();
        await until(/^200 ok$/, 'c');
      });
      await during('all cut off from NATS', undefined, async () => {
        for (const relay of site.relays.values()) relay.cut();
        await until(/^200 degraded$/, ...names);
      });
      // It comes back to one hub before another, which alone is cut off until then.
      await during('NATS is back', undefined, async () => {
        for (const relay of site.relays.values()) relay.mend();
        await until(/^200 ok$/, ...names);
      });
    } while (load.seconds < seconds);
    await load.end();

    const executed = new Map<number, number>();
    for (const line of readFileSync(site.ledger, 'utf8').split('\n').slice(0, -1))
      executed.set(Number(line), (executed.get(Number(line)) ?? 0) + 1);
    const counts = load.calls.map((call) => ({ ...call, executed: executed.get(call.n) ?? 0 }));
    if (reportFile !== undefined)
      writeFileSync(reportFile, JSON.stringify({ phases, readiness: load.changes, calls: counts }, undefined, 1));
    const wrong = counts.filter((call) => call.executed !== (call.outcome === 'ok' ? 1 : 0) || call.outcome === 'lost');
    expect(wrong).toEqual([]);
    // A hub is not ready only while something is done to it, and what it says then fits.
    const allowed: Record<string, RegExp> = {
      'a bad config': /^200 (?:ok|degraded)$/,
      'a restart': /^(?:200 ok|200 degraded|503 draining|503 starting|away)$/,
      'cut off from NATS': /^(?:200 ok|200 degraded|503 cut_off)$/,
      'all cut off from NATS': /^200 (?:ok|degraded)$/,
      'NATS is back': /^(?:200 ok|200 degraded|503 cut_off)$/,
    };
    // A look takes a moment, after which the phase may be over.
    const isExplained = ({ hub, at, state }: ReadyChange): boolean =>
      phases.some(
        (each) => (each.hub ?? hub) === hub && at >= each.from && at <= each.to + 500 && allowed[each.phase]?.test(state) === true,
      );
    const unexplained = load.changes.filter((change) => change.at > begun && !isExplained(change));
    expect(unexplained, JSON.stringify({ phases, changes: load.changes })).toEqual([]);
    // The harness did something.
    expect(counts.filter(({ outcome }) => outcome === 'ok').length).toBeGreaterThan(100);
  });
});

/** A server that hangs, one that crashes and one that writes junk are added; then the file is broken; then all is as before. */
async function pushBadConfig(site: Site, names: readonly string[]): Promise<void> {
  const bad = {
    hangs: { command: process.execPath, args: [fixtureServer('hangs.mjs')] },
    crashes: { command: process.execPath, args: ['-e', 'process.exit(3)'] },
    junk: { command: process.execPath, args: ['-e', 'process.stdout.write("junk\\n".repeat(1000)); setInterval(() => {}, 1000)'] },
  };
  const startsOf = async (hub: ServedHub, name: string): Promise<unknown> => {
    const { servers } = (await (await hub.request('/api/v1/hub/servers', { token: hub.ownerToken })).json()) as { servers: JsonObject[] };
    return servers.find((server) => server.name === name)?.restarts;
  };
  for (const name of names) site.hub(name).writeConfig(site.servers(bad), site.notebridge(name));
  for (const name of names) await expect.poll(() => startsOf(site.hub(name), 'crashes'), soon).toBeGreaterThan(0);
  const logged = names.map((name) => site.hub(name).stderr.length);
  for (const name of names) writeFileSync(site.hub(name).configFile, '{"mcpServers": {"ledger": ');
  for (const [at, name] of names.entries())
    await site.hub(name).until(() => site.hub(name).stderr.slice(logged[at]).includes('The changed config is not used'));
  for (const name of names) site.hub(name).writeConfig(site.servers(), site.notebridge(name));
  for (const name of names) await expect.poll(() => startsOf(site.hub(name), 'crashes'), soon).toBeUndefined();
}
