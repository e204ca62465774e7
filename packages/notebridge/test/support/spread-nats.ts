import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bareEnvironment } from './bare-environment.js';
import type { Machines } from './cluster-namespaces.js';

const clientPort = 4222;
const routePort = 6222;

/** A server of NATS on each of three machines, which are one cluster with JetStream. Their stores stay when they are killed. */
export class SpreadNats {
  readonly names: readonly string[];
  readonly #machines: Machines;
  readonly #program: string;
  readonly #folder: string;
  readonly #children = new Map<string, ChildProcess>();
  readonly #logs = new Map<string, string>();

  constructor(machines: Machines, { program, folder, names }: { program: string; folder: string; names: readonly string[] }) {
    this.#machines = machines;
    this.#program = program;
    this.#folder = folder;
    this.names = names;
  }

  /** Addresses for clients, that of one machine first. */
  urls(first?: string): string[] {
    const sorted = first === undefined ? this.names : [first, ...this.names.filter((name) => name !== first)];
    return sorted.map((name) => `nats://${this.#machines.get(name).address}:${clientPort}`);
  }

  /** Starts those that do not run; resolves when they take connections. */
  async start(...names: string[]): Promise<void> {
    const wanted = names.length > 0 ? names : this.names;
    await Promise.all(wanted.filter((name) => !this.#children.has(name)).map((name) => this.#start(name)));
  }

  /** As when a machine loses its power. */
  async kill(name: string): Promise<void> {
    const child = this.#children.get(name);
    if (child === undefined) return;
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
  }

  /** All that it wrote, in all its lives. */
  logOf(name: string): string {
    return this.#logs.get(name) ?? '';
  }

  async #start(name: string): Promise<void> {
    const store = join(this.#folder, `nats-${name}`);
    mkdirSync(store, { recursive: true });
    const { address } = this.#machines.get(name);
    const routes = this.names.map((other) => `nats://${this.#machines.get(other).address}:${routePort}`);
    const config = {
      server_name: name,
      host: address,
      port: clientPort,
      jetstream: { store_dir: store },
      // A link that is down says nothing: who is silent for so long is gone.
      ping_interval: '2s',
      ping_max: 2,
      cluster: { name: 'machines', host: address, port: routePort, routes, ping_interval: '2s' },
    };
    const file = join(this.#folder, `nats-${name}.json`);
    writeFileSync(file, JSON.stringify(config));
    const from = this.logOf(name).length;
    const child = this.#machines.spawn(name, [this.#program, '-c', file], { env: bareEnvironment(), stdio: ['ignore', 'ignore', 'pipe'] });
    this.#children.set(name, child);
    child.once('close', () => this.#children.delete(name));
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject).once('exit', () => reject(new Error(`nats-server ended: ${this.logOf(name).slice(from)}`)));
      child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
        this.#logs.set(name, this.logOf(name) + piece);
        if (this.logOf(name).indexOf('Server is ready', from) >= 0) resolve();
      });
    });
  }
}
