import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { natsServer, whyNoNatsServer } from '../../../../scripts/nats-server.mjs';
import { bareEnvironment } from './bare-environment.js';
import { ownPort } from './own-port.js';
import { pauseProcess } from './pause-process.js';

/** Where the program is; undefined where it can't be had. */
export const natsProgram = await natsServer();
/** For the name of tests that are skipped without it. */
export const whyNoNats = natsProgram === undefined ? `: ${whyNoNatsServer}` : '';

export interface StartNatsOptions {
  /** How many servers. Default 1. */
  cluster?: 1 | 3;
  /** More of the config file of each (which may be JSON): `authorization`, `accounts`, `tls`. */
  config?: JsonObject;
  /** More of its part `jetstream`: `max_file_store`. False: without JetStream. A function: of the server of this index. */
  jetstream?: JsonObject | false | ((index: number) => JsonObject);
}

/** A server, of which the store stays when it is killed and started again. */
export class NatsNode {
  readonly name: string;
  readonly url: string;
  readonly folder: string;
  /** Read at each start. */
  readonly configFile: string;
  #child: ChildProcess | undefined;
  /** All that it wrote. */
  log = '';

  constructor(name: string, { port, folder, config }: { port: number; folder: string; config: JsonObject }) {
    this.name = name;
    this.url = `nats://127.0.0.1:${port}`;
    this.folder = join(folder, name);
    mkdirSync(this.folder, { recursive: true });
    this.configFile = join(folder, `${name}.json`);
    writeFileSync(this.configFile, JSON.stringify(config));
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves when it takes connections. */
  async start(): Promise<void> {
    const from = this.log.length;
    const child = spawn(natsProgram ?? '', ['-c', this.configFile], { env: bareEnvironment(), stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject).once('exit', () => reject(new Error(`nats-server ended: ${this.log.slice(from)}`)));
      child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
        this.log += piece;
        if (this.log.indexOf('Server is ready', from) >= 0) resolve();
      });
    });
  }

  /** Ends it at once, as a machine that loses its power. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (!this.isRunning) return;
    const child = this.#child as ChildProcess;
    const closed = once(child, 'close');
    child.kill(signal);
    await closed;
  }

  async pause(): Promise<void> {
    if (this.pid !== undefined) await pauseProcess(this.pid);
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }
}

/** One real nats-server or a cluster of three, at ports of their own of the loopback address, with a store in a temporary folder. */
export class Nats implements AsyncDisposable {
  readonly nodes: readonly NatsNode[];
  readonly folder: string;

  private constructor(folder: string, nodes: readonly NatsNode[]) {
    this.folder = folder;
    this.nodes = nodes;
  }

  static async start(options: StartNatsOptions = {}): Promise<Nats> {
    const count = options.cluster ?? 1;
    const folder = mkdtempSync(join(tmpdir(), 'nats-'));
    const ports = await Promise.all(Array.from({ length: count * 2 }, ownPort));
    const routes = ports.slice(count).map((port) => `nats://127.0.0.1:${port}`);
    const nodes = Array.from({ length: count }, (_, index) => {
      const name = `n${index + 1}`;
      const jetstream = typeof options.jetstream === 'function' ? options.jetstream(index) : options.jetstream;
      const config: JsonObject = {
        server_name: name,
        host: '127.0.0.1',
        port: ports[index] as number,
        ...(jetstream === false ? {} : { jetstream: { store_dir: join(folder, name), ...jetstream } }),
        ...(count === 1 ? {} : { cluster: { name: 'test', host: '127.0.0.1', port: ports[count + index] as number, routes } }),
        ...options.config,
      };
      return new NatsNode(name, { port: ports[index] as number, folder, config });
    });
    const nats = new Nats(folder, nodes);
    try {
      await Promise.all(nodes.map((node) => node.start()));
    } catch (error) {
      await nats[Symbol.asyncDispose]();
      throw error;
    }
    return nats;
  }

  /** Of every server. */
  get urls(): string[] {
    return this.nodes.map(({ url }) => url);
  }

  get url(): string {
    return this.urls[0] as string;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()));
    rmSync(this.folder, { recursive: true, force: true });
  }
}
