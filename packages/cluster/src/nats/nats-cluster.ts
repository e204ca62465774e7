import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { type SharedStore, StoreUnavailable } from '@notebridge/system/files/shared-store';
import type { ClusterBus } from '../cluster-bus.js';
import type { ClusterSettings } from '../cluster-settings.js';
import { NatsAudit } from './nats-audit.js';
import { NatsLink, NatsRefusal } from './nats-link.js';
import { type NatsLogin, toNatsLogin } from './nats-login.js';
import { tryRights } from './nats-rights.js';
import { NatsStore } from './nats-store.js';
import { type EnsureOptions, ensureStream, streamInfo, toAuditConfig, toBucketConfig, toStream } from './nats-streams.js';

export interface ConnectNatsOptions {
  settings: ClusterSettings;
  logger: Logger;
  /** Is told what must not be written. */
  redactor?: { add(secret: string): void } | undefined;
  /** How long NATS may be away at the start. Default 10 s. */
  waitMs?: number | undefined;
  /**
   * `join`: as a hub. `try`: has all that a hub needs, or says what is missing, and changes nothing that is there. `look`: makes nothing at
   * NATS either. Default `join`.
   */
  purpose?: 'join' | 'try' | 'look' | undefined;
  /** How often it is asked for more servers that keep the entries, while there are fewer than there could be. Default one minute. */
  growMs?: number | undefined;
}

/** What the hubs of a cluster have in common, over one connection to NATS. */
export interface NatsCluster {
  store: SharedStore;
  bus: ClusterBus;
  /** Of the NATS server that this is connected to. */
  readonly serverVersion: string;
  /** Its address, without credentials. */
  readonly server: string;
  /** How many servers keep each entry. */
  replicas(): Promise<number>;
  /** How far this machine's clock is ahead of that of NATS, in milliseconds. */
  clockAheadMs(): Promise<number>;
  /** Takes a line for the audit of all hubs, and never throws. Does nothing where that audit is off. */
  publishAudit(hub: string, line: string): void;
  /** Closing twice is harmless. */
  close(): Promise<void>;
}

/** Older ones keep entries for ever that were to run out, and say nothing. */
const leastVersion = [2, 11] as const;
const auditAdvice = ' Or give "notebridge.cluster.audit" a smaller "maxBytes", or set it to false.';
const retryMs = 500;
const reconnectMs = 500;
const shortestTryMs = 2000;
const longestTryMs = 5000;

export async function createNatsCluster(options: ConnectNatsOptions): Promise<NatsCluster> {
  const { settings, logger, redactor, waitMs = 10_000, purpose = 'join', growMs = 60_000 } = options;
  const login = toNatsLogin(settings, (secret) => redactor?.add(secret));
  const untilMs = performance.now() + waitMs;
  const connection = await retried(untilMs, () => reach(login, settings, waitMs));
  keepServers(connection, login.servers);
  const link = await NatsLink.over(connection, logger);
  try {
    assertVersion(connection);
    watchVersion(link, logger);
    return await retried(untilMs, () => join(link, { settings, logger, purpose, growMs }));
  } catch (error) {
    await link.close();
    throw error;
  }
}

/** Tries until it is done: NATS may be away, and a cluster of it that has just been started has no leader for some seconds. */
async function retried<T>(untilMs: number, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      const isForGood = error instanceof NatsRefusal && error.isForGood;
      if (isForGood || performance.now() + retryMs > untilMs)
        throw new BridgeError(isForGood ? 'bad_config' : 'cluster_unavailable', error.message, { cause: error });
      await sleep(retryMs);
    }
  }
}

/** Those that were away when it connected are forgotten by the client, and may be all that are left later. */
function keepServers(connection: NatsConnection, servers: readonly string[]): void {
  const known = connection.getServers().map(({ listen }) => listen);
  const forgotten = servers.filter((server) => !known.includes(server));
  if (forgotten.length > 0) connection.setServers([...known, ...forgotten]);
}

function connectionOptions({ name, hubName, urls }: ClusterSettings, waitMs: number) {
  return {
    name: `notebridge ${name}${hubName === undefined ? '' : ` ${hubName}`}`,
    maxReconnectAttempts: -1,
    // With a share of chance: many hubs lose their server at once. It must not grow: the client asks for it several times before each try,
    // and counts it from the last one, so that with a growing pause a server that was away for a moment is tried after seconds.
    reconnectDelayHandler: () => reconnectMs * (0.5 + Math.random()),
    // A user that was taken away may be there again.
    ignoreAuthErrorAbort: true,
    // A connection of which the other end is silently gone is found so: in six seconds at the most.
    pingInterval: 2000,
    maxPingOut: 2,
    // For each address in turn.
    timeout: Math.min(waitMs, Math.max(shortestTryMs, Math.min(longestTryMs, waitMs) / urls.length)),
    noAsyncTraces: true,
  };
}

async function reach(login: NatsLogin, settings: ClusterSettings, waitMs: number): Promise<NatsConnection> {
  try {
    return await connect({ ...login, ...connectionOptions(settings, waitMs) });
  } catch (error) {
    const why = messageOf(error);
    // A server with much to do says "Authentication Timeout".
    if (/authorization|authentication|credentials|nkey|jwt/i.test(why) && !/timeout/i.test(why)) {
      const next = 'Look at "notebridge.cluster.credentials", the file with what it asks for, or at the user in "notebridge.cluster.url".';
      throw new BridgeError('bad_config', `NATS does not let this hub in: ${why}. ${next}`, { cause: error });
    }
    const places = settings.urls.map((url) => `"${withoutSecrets(url)}"`).join(', ');
    throw new StoreUnavailable(
      `Cannot reach NATS at ${places}: ${inWords(why)}. Start nats-server there, or fix "notebridge.cluster.url".`,
      error,
    );
  }
}

function inWords(why: string): string {
  if (/ENOTFOUND|EAI_AGAIN/.test(why)) return 'there is no machine of such a name, or names cannot be looked up';
  return why === 'timeout' ? 'what is there, if anything, does not answer as NATS does' : why;
}

function assertVersion({ info }: NatsConnection): void {
  const version = info?.version ?? 'unknown';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > leastVersion[0] || (major === leastVersion[0] && minor >= leastVersion[1])) return;
  const text = `Notebridge needs nats-server ${leastVersion.join('.')} or newer, and this is ${version}, which keeps entries for ever that are to run out.`;
  throw new BridgeError('bad_config', `${text} Install a newer nats-server.`);
}

/** Where servers of several versions are one cluster, another one may be met later. */
function watchVersion(link: NatsLink, logger: Logger): void {
  link.onConnection((isConnected) => {
    if (!isConnected) return;
    try {
      assertVersion(link.connection);
    } catch (error) {
      logger.error(`cluster: ${messageOf(error)}`);
    }
  });
}

interface JoinOptions extends Pick<ConnectNatsOptions, 'settings' | 'logger'> {
  purpose: 'join' | 'try' | 'look';
  growMs: number;
}

async function join(link: NatsLink, { settings, logger, purpose, growMs }: JoinOptions): Promise<NatsCluster> {
  const { name, audit } = settings;
  const [bucket, prefix] = [`notebridge-${name}`, `notebridge.${name}.`];
  const auditStream = audit === false ? undefined : toAuditConfig(name, audit);
  const streams = [toStream(bucket), ...(auditStream === undefined ? [] : [auditStream.name])];
  let sparse: string | undefined;
  const ensure = async (mayChange: EnsureOptions['mayChange']): Promise<void> => {
    const ensuring = { replicas: settings.replicas, logger, mayChange };
    const why = await ensureStream(link, toBucketConfig(bucket, store.highestRevision), ensuring);
    const whyAudit = auditStream && (await ensureStream(link, auditStream, { ...ensuring, advice: auditAdvice }));
    if (sparse === undefined && (why ?? whyAudit) !== undefined) logger.warn(`cluster: ${why ?? whyAudit}`);
    sparse = why ?? whyAudit;
  };
  // Each renewal of a lease asks for it while NATS is ill: what is wrong is said once. Without a connection there is nothing to ask.
  let told: string | undefined;
  const again = (mayChange: EnsureOptions['mayChange']): (() => void) => {
    let isRunning = false;
    const end = (why?: string): void => {
      isRunning = false;
      if (why !== undefined && why !== told) logger.warn(`cluster: ${why}`);
      told = why;
    };
    return () => {
      // A run does what is asked for meanwhile, too.
      if (purpose !== 'join' || !link.isConnected || isRunning) return;
      isRunning = true;
      void ensure(mayChange).then(
        () => end(),
        (error) => end(messageOf(error)),
      );
    };
  };
  const ensureAgain = again('all');
  const store = new NatsStore({ link, bucket, logger, onMissing: ensureAgain });
  const lines = audit === false || purpose !== 'join' ? undefined : new NatsAudit({ link, clusterName: name, logger });
  if (purpose === 'look') {
    if ((await streamInfo(link, toStream(bucket))) === undefined) {
      throw new BridgeError(
        'cluster_unavailable',
        `No hub has ever joined the cluster "${name}" at this NATS: there is no bucket "${bucket}".`,
      );
    }
  } else {
    await ensure(purpose === 'try' ? 'nothing' : 'all');
    await tryRights(link, { store, prefix, streams });
    link.onConnection(ensureAgain);
  }
  // Servers of a NATS that is just being started come one after the other.
  const grow = again('replicas');
  const growing = setInterval(() => sparse !== undefined && grow(), growMs).unref();
  const info = async () =>
    (await streamInfo(link, toStream(bucket))) ?? Promise.reject(new StoreUnavailable(`There is no bucket "${bucket}".`));
  return {
    store,
    bus: createBus(link, prefix),
    get serverVersion() {
      return link.connection.info?.version ?? '';
    },
    get server() {
      return link.connection.getServer();
    },
    replicas: async () => (await info()).config.num_replicas ?? 1,
    clockAheadMs: async () => {
      const [wall, steady] = [Date.now(), performance.now()];
      const { ts = '' } = await info();
      return wall + (performance.now() - steady) / 2 - Date.parse(ts);
    },
    publishAudit: (hub, line) => lines?.publish(hub, line),
    close: async () => {
      clearInterval(growing);
      store.close();
      await lines?.close();
      await link.close();
    },
  };
}

/** Plain messages of NATS. Each subject is put below that of the cluster, so that two clusters at one NATS never meet. */
function createBus(link: NatsLink, prefix: string): ClusterBus {
  return {
    get maxPayload() {
      return link.maxPayload;
    },
    get isConnected() {
      return link.isConnected;
    },
    publish: (subject, payload) => link.send(prefix + subject, payload),
    subscribe: (subject, listener) => {
      const subscription = link.listen(prefix + subject, ({ data }) => listener(data));
      return () => subscription.unsubscribe();
    },
    onConnection: (listener) => link.onConnection(listener),
  };
}

/** Read as it is for the login: what stands before the last `@` is secret, also where nothing like `nats://` stands in front. */
function withoutSecrets(url: string): string {
  const hasScheme = url.includes('://');
  const { protocol, host } = new URL(hasScheme ? url : `nats://${url}`);
  return hasScheme ? `${protocol}//${host}` : host;
}
