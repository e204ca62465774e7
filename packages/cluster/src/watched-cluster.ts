/** The cluster as a hub knows it already: nobody is asked, so it may be old, and is while the hub is cut off. Times: milliseconds since the epoch. */
export interface ClusterFacts {
  name: string;
  /** The connection to NATS, and since when it is so. */
  nats: { isConnected: boolean; since: number };
  /** The place of this hub in the cluster, and since when it is so. */
  lease: { isHeld: boolean; since: number };
  /** False: it never had a place yet. */
  hasJoined: boolean;
  /** Since when it hands over what it has, to end; undefined: it does not. */
  drainingSince: number | undefined;
  /** Why it does not join until it is started again; undefined: it does, or tries. */
  refusal: string | undefined;
  /** This one first, the others by their names. */
  hubs: readonly HubFacts[];
}

/** Names and titles are what other hubs and pages say of themselves. */
export interface HubFacts {
  id: string;
  name: string;
  isSelf: boolean;
  version: string;
  /** By its own clock. */
  startedAt: number;
  /** Where its doors are, as it says, which may mean its own machine alone. Undefined: not known. */
  url: string | undefined;
  /** Calls that run there. */
  load: number;
  isDraining: boolean;
  /** Those of which the cluster has one. */
  servers: FirstOfMany<{ name: string; status: string }>;
  /** Those that a page has come to, whether one is there just now or not. */
  pages: FirstOfMany<{ id: string; title: string }>;
}

/** A hub may have ten thousand pages. */
export interface FirstOfMany<Item> {
  count: number;
  first: readonly Item[];
}

/** A cluster, for the owner of one of its hubs to look at. */
export interface WatchedCluster {
  describe(): ClusterFacts;
  /** Calls after changes. Returns what ends it. */
  subscribe(listener: () => void): () => void;
}
