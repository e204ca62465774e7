import { InventoryDesk } from '@notebridge/cluster/inventory-desk';
import { PlacedServers } from '@notebridge/cluster/placement/placed-servers';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { hubOfState, signStatesAsHub } from '@notebridge/protocol/questions/request-state';
import type { Logger } from '@notebridge/protocol/util/logger';
import { settlesWithin } from '@notebridge/protocol/util/settles-within';
import { ownVersion } from '@notebridge/system/files/own-files';
import type { Hub } from '../../hub.js';
import { pageProfiles } from '../../notebooks/profiles/page-profiles.js';
import type { NotebookDirectory } from '../../notebooks/selection/notebook-directory.js';
import type { PlaceableServers } from '../config-servers.js';
import type { Settings } from '../settings.js';
import { ClusterDirectory } from './cluster-directory.js';
import { readClusterKey } from './cluster-key.js';
import { ClusterPages } from './cluster-pages.js';
import { ClusterWatch } from './cluster-watch.js';
import { collectInventory } from './collect-inventory.js';
import { NotebookDesk, type NotebooksOfHub } from './notebook-desk.js';
import { Cluster, type OpenClusterOptions } from './open-cluster.js';
import { PagesDirectory } from './pages-directory.js';
import { PlaceWatch } from './place-watch.js';
import { createStateRouter, type WhereState } from './state-router.js';

/** `hubName`: where the config names none. Rejects with `bad_config` or `write_failed` if the key of the cluster cannot be had. */
export async function createClusterOfHub({ config, stateDir, logger, redactor }: Settings, hubName?: string): Promise<ClusterOfHub> {
  if (config.cluster === undefined) throw new BridgeError('internal', 'There is no cluster in the config.');
  const settings = { ...config.cluster, hubName: config.cluster.hubName ?? hubName };
  const key = readClusterKey(settings, { stateDir, logger });
  return new ClusterOfHub({ settings, key, version: ownVersion(), logger, redactor });
}

/** What the parts of one hub have of their cluster. */
export class ClusterOfHub {
  readonly cluster: Cluster;
  readonly pages: ClusterPages;
  /** For the owner. */
  readonly watch: ClusterWatch;
  /** For its readiness. */
  readonly ownPlace: PlaceWatch;
  readonly #logger: Logger;
  /** Calls that run at the doors. */
  #load: () => number = () => 0;
  #desk: NotebookDesk | undefined;
  #closeRouter: (() => void) | undefined;
  /** Keeps this process alive: what only waits for a time may hold nothing that does. */
  #holding: NodeJS.Timeout | undefined;
  readonly #inventory: InventoryDesk;
  #servers: PlaceableServers | undefined;
  #notebooks: NotebooksOfHub | undefined;

  constructor(options: Omit<OpenClusterOptions, 'load'>) {
    this.cluster = new Cluster({ ...options, load: () => this.#load() });
    this.#logger = options.logger;
    signStatesAsHub({ clusterKey: options.key, hubId: () => this.cluster.processMark });
    const { claims, calls, membership, store, runtime } = this.cluster;
    this.pages = new ClusterPages({ claims, calls, membership, store, runtime, profiles: pageProfiles, logger: options.logger });
    this.#inventory = new InventoryDesk({
      ...{ bus: this.cluster.bus, membership, runtime: this.cluster.runtime, logger: options.logger },
      ...{ cluster: options.settings.name, key: options.key },
      collect: () => collectInventory({ servers: this.#servers, directory: this.#notebooks?.directory }),
    });
    this.watch = new ClusterWatch(this);
    const { bus } = this.cluster;
    this.ownPlace = new PlaceWatch({ membership, bus, runtime, clusterKey: options.key, refusal: () => this.cluster.refusal });
  }

  /**
   * Joins, as far as NATS lets it; see `Cluster.start`. From now on until `close` the process lives: between two tries to reach NATS it may
   * have nothing that keeps it, no port yet, and would end in the middle of its start.
   */
  start(doors: () => { readonly calls: { readonly size: number } } | undefined): Promise<void> {
    this.#holding ??= setInterval(() => {}, 2 ** 31 - 1);
    this.#load = () => doors()?.calls.size ?? 0;
    return this.cluster.start();
  }

  /** The servers of the config, where their `placement` says. */
  place(servers: PlaceableServers): PlacedServers {
    this.#servers = servers;
    const { calls, claims, membership, runtime } = this.cluster;
    return new PlacedServers({ servers, calls, claims, membership, runtime, logger: this.#logger });
  }

  /** Agents of other hubs use the notebooks of this one; its own agents use those of all. */
  shareNotebooks(own: NotebooksOfHub): NotebookDirectory {
    const { calls, membership, runtime } = this.cluster;
    const { pages } = this;
    this.#notebooks = own;
    const local = new PagesDirectory({ local: own.directory, pages });
    const endSession = (sessionId: string): void => {
      own.endSession(sessionId);
      pages.endSession(sessionId);
    };
    this.#desk = new NotebookDesk({ ...own, directory: local, endSession }, { calls, membership });
    return new ClusterDirectory({ local, pages, calls, membership, runtime });
  }

  /** Outermost: what was begun at another hub goes on there. */
  routeStates(hub: Hub): void {
    const { calls } = this.cluster;
    const { middleware, close } = createStateRouter({
      calls,
      whereIs: (...state) => this.#whereIs(...state),
      request: (context) => hub.request(context),
    });
    hub.addMiddleware(middleware);
    this.#closeRouter = close;
  }

  #whereIs(...state: Parameters<typeof hubOfState>): WhereState | undefined {
    const mark = hubOfState(...state);
    if (mark === undefined) return undefined;
    return mark === this.cluster.processMark ? 'here' : (this.cluster.hubOfProcess(mark) ?? 'gone');
  }

  /** Takes nothing more from others, and waits for what runs for them. Never rejects. */
  async drain(): Promise<void> {
    await Promise.all([this.cluster.drain(), settlesWithin(this.pages.drain(), this.cluster.drainMs)]);
  }

  /** Closing twice is harmless. */
  async close(): Promise<void> {
    this.watch.close();
    this.ownPlace.close();
    this.#closeRouter?.();
    this.#inventory.close();
    try {
      await this.#desk?.close();
      await this.cluster.close();
    } finally {
      clearInterval(this.#holding);
    }
  }
}
