import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { Nats } from './nats.js';
import { ServedHub, type ServedHubOptions } from './served-hub.js';

export interface HubClusterOptions extends Omit<ServedHubOptions, 'servers' | 'notebridge' | 'args'> {
  /** Their names. Default `a`, `b` and `c`. */
  names?: readonly string[];
  nats?: 1 | 3;
  /** `mcpServers` of each hub. Default: none. */
  servers?: (name: string) => Record<string, JsonObject>;
  notebridge?: JsonObject;
  /** More of its part `cluster`. */
  cluster?: JsonObject;
  args?: (name: string) => string[];
}

/** Real hubs, each with a home of its own, and real NATS between them. */
export class HubCluster implements AsyncDisposable {
  readonly hubs = new Map<string, ServedHub>();
  /** Also those that others have taken the place of. */
  readonly #all: ServedHub[] = [];
  readonly nats: Nats;
  readonly keyFile: string;
  readonly #folder: string;
  readonly #options: HubClusterOptions;

  private constructor(nats: Nats, options: HubClusterOptions) {
    this.nats = nats;
    this.#options = options;
    this.#folder = mkdtempSync(join(tmpdir(), 'hubs-'));
    this.keyFile = join(this.#folder, 'key');
    writeFileSync(this.keyFile, randomBytes(32).toString('base64url'), { mode: 0o600 });
  }

  /** Resolves when each has seen all others. */
  static async start(options: HubClusterOptions = {}): Promise<HubCluster> {
    const { names = ['a', 'b', 'c'], nats = 1 } = options;
    const cluster = new HubCluster(await Nats.start({ cluster: nats }), options);
    try {
      await Promise.all(names.map((name) => cluster.add(name)));
      await Promise.all(
        names.map((name) =>
          cluster.seen(
            name,
            names.filter((other) => other !== name),
          ),
        ),
      );
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  hub(name: string): ServedHub {
    const hub = this.hubs.get(name);
    if (hub === undefined) throw new Error(`There is no hub "${name}".`);
    return hub;
  }

  /** Starts one, or one of that name again. `user`: for the same user. */
  async add(name: string, user?: ServedHub): Promise<ServedHub> {
    const { servers, notebridge = {}, args, cluster = {}, names: _1, nats: _2, ...more } = this.#options;
    const options: ServedHubOptions = {
      ...more,
      servers: servers?.(name) ?? {},
      notebridge: { ...notebridge, cluster: { ...cluster, url: this.nats.urls, key: this.keyFile, hubName: name } },
      args: args?.(name) ?? ['--notebook', 'none'],
    };
    const hub = await ServedHub.start(options, user);
    this.hubs.set(name, hub);
    this.#all.push(hub);
    return hub;
  }

  /** Waits until a hub has said last that exactly these others are there. */
  async seen(name: string, others: readonly string[]): Promise<void> {
    const wanted = JSON.stringify([...others].sort());
    await this.hub(name).until(() => JSON.stringify(this.#others(name)) === wanted);
  }

  async kill(name: string): Promise<void> {
    const hub = this.hub(name);
    this.hubs.delete(name);
    await hub.stop('SIGKILL');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#all.map((hub) => hub[Symbol.asyncDispose]()));
    await this.nats[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #others(name: string): unknown {
    return this.hub(name)
      .log()
      .findLast(({ msg }) => msg === 'The hubs of the cluster:')?.others;
  }
}
