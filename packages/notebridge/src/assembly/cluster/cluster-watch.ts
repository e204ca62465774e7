import { fromKeyPart, type HubView, type Owned } from '@notebridge/cluster/cluster-parts';
import { ofServers } from '@notebridge/cluster/placement/server-resources';
import type { ClusterFacts, FirstOfMany, HubFacts, WatchedCluster } from '@notebridge/cluster/watched-cluster';
import { Listeners } from '@notebridge/protocol/util/listeners';
import type { ClusterPages } from './cluster-pages.js';
import type { Cluster } from './open-cluster.js';
import { pageResources } from './page-records.js';

/** So many servers, and pages, of each hub are named. */
const mostNamed = 20;

type Holdings = Pick<HubFacts, 'servers' | 'pages'>;

/** Whether something is so, and since when. */
interface Fact {
  isSo: boolean;
  since: number;
}

/** What this hub knows of its cluster, for its owner. */
export class ClusterWatch implements WatchedCluster {
  readonly #cluster: Cluster;
  readonly #pages: ClusterPages;
  readonly #changed = new Listeners<void>();
  readonly #stops: (() => void)[];
  #connection: Fact;
  #lease: Fact;
  #hasJoined = false;
  #drainingSince: number | undefined;
  /** By the id of the hub. Undefined: to be looked up anew, of ten thousand pages maybe. */
  #holdings: ReadonlyMap<string, Holdings> | undefined;

  constructor({ cluster, pages }: { cluster: Cluster; pages: ClusterPages }) {
    this.#cluster = cluster;
    this.#pages = pages;
    const since = cluster.runtime.now();
    this.#connection = { isSo: false, since };
    this.#lease = { isSo: false, since };
    const change = (): void => {
      this.#holdings = undefined;
      this.#look();
      this.#changed.emit();
    };
    const { bus, membership, claims } = cluster;
    this.#stops = [bus.onConnection(change), membership.subscribe(change), claims.subscribe(change), pages.changed.add(change)];
  }

  describe(): ClusterFacts {
    this.#look();
    const { name, membership, others, view, refusal } = this.#cluster;
    const { self } = membership;
    const byName = [...others].sort((one, other) => one.name.localeCompare(other.name) || one.startedAt - other.startedAt);
    return {
      name: view.name,
      nats: { isConnected: this.#connection.isSo, since: this.#connection.since },
      lease: { isHeld: this.#lease.isSo, since: this.#lease.since },
      hasJoined: this.#hasJoined,
      drainingSince: this.#drainingSince,
      refusal,
      hubs: [toFacts({ ...self, name }, this.#own, true), ...byName.map((hub) => toFacts(hub, this.#holdingsOf(hub.id), false))],
    };
  }

  subscribe(listener: () => void): () => void {
    return this.#changed.add(listener);
  }

  /** Closing twice is harmless. */
  close(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }

  /** A process that was stopped learns of the end of its lease by looking, before any timer tells. */
  #look(): void {
    const { bus, membership, runtime } = this.#cluster;
    const now = runtime.now();
    const note = (fact: Fact, isSo: boolean): Fact => (fact.isSo === isSo ? fact : { isSo, since: now });
    this.#connection = note(this.#connection, bus.isConnected);
    this.#lease = note(this.#lease, membership.isHeld());
    this.#hasJoined ||= this.#lease.isSo;
    if (membership.self.isDraining) this.#drainingSince ??= now;
  }

  /** A page stays with a hub that has lost its place. */
  get #own(): Holdings {
    const pages = this.#pages.held.filter(({ hadPage }) => hadPage);
    const { servers } = this.#holdingsOf(this.#cluster.membership.self.id);
    return { servers, pages: firstOf(pages, ({ id, page }) => ({ id, title: page.describe().title })) };
  }

  #holdingsOf(hub: string): Holdings {
    this.#holdings ??= this.#lookUp();
    return this.#holdings.get(hub) ?? { servers: { count: 0, first: [] }, pages: { count: 0, first: [] } };
  }

  #lookUp(): ReadonlyMap<string, Holdings> {
    const { claims } = this.#cluster;
    const servers = groupBy(claims.list(ofServers), ({ hub }) => hub);
    const cameToOne = claims.list(pageResources).filter(({ about }) => about.hadPage === true);
    const pages = groupBy(cameToOne, ({ hub }) => hub);
    const toServer = ({ resource, about }: Owned) => ({
      name: fromKeyPart(resource.slice(ofServers.length)),
      status: textOf(about.status),
    });
    const toPage = ({ resource, about }: Owned) => ({ id: resource.slice(pageResources.length), title: textOf(about.title) });
    const toHoldings = (hub: string): Holdings => ({
      servers: firstOf(servers.get(hub) ?? [], toServer),
      pages: firstOf(pages.get(hub) ?? [], toPage),
    });
    return new Map([...servers.keys(), ...pages.keys()].map((hub) => [hub, toHoldings(hub)]));
  }
}

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

function firstOf<Item, Named>(items: readonly Item[], toNamed: (item: Item) => Named): FirstOfMany<Named> {
  return { count: items.length, first: items.slice(0, mostNamed).map(toNamed) };
}

function toFacts(
  { id, name, version, startedAt, url, load, isDraining }: HubView,
  { servers, pages }: Holdings,
  isSelf: boolean,
): HubFacts {
  return { id, name, isSelf, version, startedAt, url, load, isDraining, servers, pages };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
