import { ExchangedCalls } from '@notebridge/cluster/hub-calls';
import { HubLease } from '@notebridge/cluster/hub-lease';
import { hubWire } from '@notebridge/cluster/packets';
import { PlacedServers } from '@notebridge/cluster/placement/placed-servers';
import { ResourceClaims } from '@notebridge/cluster/resource-claims';
import type { ToolServer, ToolServerEvent } from '@notebridge/protocol/core/tool-server';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import type { Runtime } from '@notebridge/protocol/util/runtime';
import type { ServerConfig } from '../../src/config/server-config.js';
import type { Upstream } from '../../src/upstreams/upstream.js';
import { createUpstreams, type Upstreams } from '../../src/upstreams/upstreams.js';
import { createFastRuntime, MemoryCluster, type MemoryLink } from './memory-cluster.js';

/** Hubs of one process with real servers, and a store and a bus in memory. Time passes so many times faster for what they agree by. */
export class ServerHubs implements AsyncDisposable {
  readonly runtime: Runtime;
  readonly memory: MemoryCluster;
  readonly hubs: ServerHub[] = [];

  constructor(speed: number) {
    this.runtime = createFastRuntime(speed);
    this.memory = new MemoryCluster(this.runtime);
  }

  /** Resolves when all see each other, and have started what starts by itself. */
  async add(names: readonly string[], servers: (name: string) => ServerConfig[]): Promise<ServerHub[]> {
    const added = names.map((name) => new ServerHub(name, { link: this.memory.connect(), runtime: this.runtime, servers: servers(name) }));
    this.hubs.push(...added);
    await Promise.all(added.map((hub) => hub.start()));
    await Promise.all(this.hubs.map((hub) => hub.until(() => hub.lease.hubs().length === this.hubs.length)));
    return added;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.hubs.map((hub) => hub.close()));
    this.memory.close();
  }
}

export class ServerHub {
  readonly link: MemoryLink;
  readonly lease: HubLease;
  readonly claims: ResourceClaims;
  readonly calls: ExchangedCalls;
  readonly upstreams: Upstreams;
  readonly placed: PlacedServers;
  /** What its agents hear. */
  readonly events: ToolServerEvent[] = [];
  readonly #lookers = new Set<() => void>();
  #closing: Promise<void> | undefined;

  constructor(name: string, { link, runtime, servers }: { link: MemoryLink; runtime: Runtime; servers: ServerConfig[] }) {
    const { store, bus } = link;
    const logger: Logger = silentLogger;
    this.link = link;
    this.lease = new HubLease({ store, runtime, about: { name, version: '0', wire: hubWire, url: undefined } });
    const { lease: membership } = this;
    this.claims = new ResourceClaims({ store, runtime, membership });
    const { claims } = this;
    this.calls = new ExchangedCalls({ bus, runtime, membership, claims, cluster: 'test', key: Buffer.alloc(32, 7), logger });
    this.upstreams = createUpstreams({ servers, logger, mayStart: ({ placement }) => placement !== 'one' });
    const { calls, upstreams } = this;
    this.placed = new PlacedServers({ servers: upstreams, calls, claims, membership, runtime, logger });
    const look = (): void => {
      for (const looker of [...this.#lookers]) looker();
    };
    this.placed.subscribe((event) => {
      this.events.push(event);
      look();
    });
    upstreams.subscribe(look);
    membership.subscribe(look);
    claims.subscribe(() => setImmediate(look));
  }

  async start(): Promise<void> {
    await Promise.all([this.lease.start(), this.claims.start()]);
    await this.upstreams.start();
  }

  /** As its agents have it. */
  server(name: string): ToolServer {
    return this.#found(this.placed.get(name), name);
  }

  /** As it is on this hub's machine. */
  local(name: string): Upstream {
    return this.#found(this.upstreams.get(name), name);
  }

  /** Resolves when it is so; looks after each event, and each change of the leases and claims that this hub hears of. */
  until(isSo: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const looker = (): void => {
        if (!isSo()) return;
        this.#lookers.delete(looker);
        resolve();
      };
      this.#lookers.add(looker);
      looker();
    });
  }

  /** In the order of a hub that ends. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.lease.setDraining(true);
    await this.calls.drain();
    await Promise.all([this.placed.close(), this.upstreams.close()]);
    await this.claims.close();
    await this.lease.leave();
    this.calls.close();
  }

  #found<Server>(server: Server | undefined, name: string): Server {
    if (server === undefined) throw new Error(`There is no server "${name}".`);
    return server;
  }
}
