import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@notebridge/protocol/json';
import { createSecret } from '../../src/identity/secret.js';
import { bareEnvironment } from '../support/bare-environment.js';
import { Machines } from '../support/cluster-namespaces.js';
import { ServedHub, type ServedHubOptions } from '../support/served-hub.js';
import { SpreadNats } from '../support/spread-nats.js';
import type { PlannedFault } from './fault-plan.js';
import type { HappenedFault } from './judge-soak.js';

const loadMachine = 'agents';
export const pageOrigin = 'https://page.example';

export interface SoakSiteOptions {
  /** One hub is alone, on loopback. More of them are a cluster over machines in namespaces. */
  hubs: number;
  /** The program `nats-server`; needed for more than one. */
  nats?: string | undefined;
}

/** Hubs, what they run on, and what can be done to them. */
export class SoakSite implements AsyncDisposable {
  readonly folder: string;
  readonly ledger: string;
  readonly ownerToken = createSecret('nbo_');
  readonly hubs: ServedHub[] = [];
  readonly #machines: Machines | undefined;
  readonly #nats: SpreadNats | undefined;
  /** Faults under way: a site that is closed waits for them. */
  readonly #faults = new Set<Promise<HappenedFault>>();

  private constructor(folder: string, machines?: Machines, nats?: SpreadNats) {
    this.folder = folder;
    this.ledger = join(folder, 'ledger');
    writeFileSync(this.ledger, '');
    this.#machines = machines;
    this.#nats = nats;
  }

  static async open({ hubs, nats: program }: SoakSiteOptions): Promise<SoakSite> {
    const folder = mkdtempSync(join(tmpdir(), 'notebridge-soak-'));
    const names = Array.from({ length: hubs }, (_, index) => `n${index + 1}`);
    const machines = hubs > 1 ? await Machines.open(...names, loadMachine) : undefined;
    const nats = machines && new SpreadNats(machines, { program: program ?? '', folder, names: names.slice(0, 3) });
    const site = new SoakSite(folder, machines, nats);
    try {
      writeFileSync(join(folder, 'cluster-key'), createSecret('nbc_'), { mode: 0o600 });
      await nats?.start();
      site.hubs.push(...(await Promise.all(names.map((_, index) => ServedHub.start(site.#optionsOf(index))))));
      return site;
    } catch (error) {
      await site[Symbol.asyncDispose]();
      throw error;
    }
  }

  get urls(): string[] {
    return this.hubs.map(({ url }) => url);
  }

  /** Starts the load where it sees the hubs. */
  startLoad(config: JsonObject): ChildProcess {
    const file = join(this.folder, 'load.json');
    writeFileSync(file, JSON.stringify(config));
    const words = [process.execPath, fileURLToPath(new URL('load.mjs', import.meta.url)), file];
    const options = { env: bareEnvironment(), stdio: 'pipe' } as const;
    const [command = '', ...args] = words;
    return this.#machines === undefined ? spawn(command, args, options) : this.#machines.spawn(loadMachine, words, options);
  }

  /** Does what was planned, and undoes it after its time. */
  perform(fault: PlannedFault): Promise<HappenedFault> {
    const happening = this.#perform(fault);
    this.#faults.add(happening);
    return happening.finally(() => this.#faults.delete(happening));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#faults);
    for (const hub of this.hubs) await hub[Symbol.asyncDispose]();
    await this.#machines?.[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #perform({ kind, at, forMs }: PlannedFault): Promise<HappenedFault> {
    const startMs = Date.now();
    const name = `n${at + 1}`;
    const hub = this.hubs[at];
    switch (kind) {
      case 'kill':
      case 'drain':
        await hub?.stop(kind === 'kill' ? 'SIGKILL' : 'SIGTERM');
        await pause(forMs);
        if (hub !== undefined) this.hubs[at] = await ServedHub.start({ ...this.#optionsOf(at), port: hub.port }, hub);
        break;
      case 'pause':
        hub?.child.kill('SIGSTOP');
        await pause(forMs);
        hub?.child.kill('SIGCONT');
        break;
      case 'cut':
        await this.#machines?.cut(name);
        await pause(forMs);
        await this.#machines?.join(name);
        break;
      case 'nats':
        await this.#nats?.kill(name);
        await pause(forMs);
        await this.#nats?.start(name);
        break;
    }
    return { kind, at, startMs, endMs: Date.now() };
  }

  #optionsOf(index: number): ServedHubOptions {
    const name = `n${index + 1}`;
    const state = join(this.folder, `state-${name}`);
    mkdirSync(join(state, 'notebridge'), { recursive: true, mode: 0o700 });
    // The owner is one person at all hubs.
    writeFileSync(join(state, 'notebridge/owner-token'), `${this.ownerToken}\n`, { mode: 0o600 });
    const machine = this.#machines?.get(name);
    const cluster = this.#nats && {
      cluster: { url: this.#nats.urls(name), name: 'soak', key: join(this.folder, 'cluster-key'), hubName: name },
    };
    const ledger = { command: process.execPath, args: [fileURLToPath(new URL('ledger-server.mjs', import.meta.url)), this.ledger] };
    return {
      args: [
        '--notebook',
        'colab',
        '--allow-origin',
        pageOrigin,
        ...(machine === undefined ? [] : ['--host', machine.address, '--allow-host', machine.address]),
      ],
      // One in the whole cluster, so that calls cross; and one at each hub.
      servers: cluster === undefined ? { ledger } : { ledger: { ...ledger, placement: 'one' }, near: ledger },
      // A page that went away is waited for, but not for as long as the callers' limit.
      notebridge: { limits: { graceMs: 5000 }, ...cluster },
      env: { XDG_STATE_HOME: state },
      ...(machine === undefined ? {} : { launch: machine.launch, port: 8765 }),
    };
  }
}
