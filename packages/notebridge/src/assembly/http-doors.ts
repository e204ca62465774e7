import { readFile } from 'node:fs/promises';
import type { KernelStartObserver } from '@notebridge/code-mode/execution/kernel-starts';
import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import type { Logger } from '@notebridge/protocol/util/logger';
import { settlesWithin } from '@notebridge/protocol/util/settles-within';
import { ownVersion } from '@notebridge/system/files/own-files';
import { describePortOwner } from '@notebridge/system/processes/port-owner';
import { NotebooksElsewhere } from '../broker/ask-host.js';
import type { HubReport } from '../catalog/describe-servers.js';
import type { WatchedConfig } from '../config/config-edit.js';
import { connectPath } from '../doors/connect/connect-door.js';
import { createConsoleDoor, newConsoleAddress } from '../doors/console/console-door.js';
import { ConsoleSessions } from '../doors/console/console-sessions.js';
import { createExchangeDoor } from '../doors/exchange/exchange-door.js';
import type { Authenticate } from '../doors/http/authenticator.js';
import { createHttpApp, type HttpApp } from '../doors/http/http-app.js';
import { listenHttp } from '../doors/http/listen.js';
import { refuse } from '../doors/http/refusal.js';
import { createMcpHttpDoor, type McpHttpDoor } from '../doors/mcp/http.js';
import { createMetricsDoor } from '../doors/metrics/metrics-door.js';
import { createOwnerDoor } from '../doors/owner/owner-door.js';
import { TimeShare } from '../doors/owner/time-share.js';
import { addResourceMetadata } from '../doors/resource/resource-metadata.js';
import { isReady, proxyReadiness } from '../doors/tool-proxy/proxy-health.js';
import { SharedAnswers } from '../doors/tool-proxy/shared-answers.js';
import { StoredAnswers } from '../doors/tool-proxy/stored-answers.js';
import { createToolProxy, proxyPrefix } from '../doors/tool-proxy/tool-proxy.js';
import { AccessTokens } from '../grants/access-tokens.js';
import { type Authority, createAuthority } from '../grants/authority.js';
import { GrantExchange } from '../grants/grant-exchange.js';
import { MountedTokens } from '../grants/mounted-tokens.js';
import type { Hub } from '../hub.js';
import { isOwnHub, readHubFile, readHubFiles, type WrittenHubFile, writeHubFile } from '../identity/hub-file.js';
import { usualHubName } from '../identity/hub-name.js';
import { KeptSessions } from '../identity/kept-sessions.js';
import { ensureOwnerToken, proveOwner } from '../identity/owner-token.js';
import { acceptTypedCodes } from '../identity/typed-codes.js';
import type { PagePort } from '../notebooks/pages/page-listener.js';
import type { WatchedNotebooks } from '../notebooks/watched-notebooks.js';
import type { HubMetrics } from '../telemetry/hub-metrics.js';
import type { ClusterOfHub } from './cluster/cluster-of-hub.js';
import type { Cluster } from './cluster/open-cluster.js';
import { createSessionRelay } from './cluster/relay-sessions.js';
import type { ConfigServers } from './config-servers.js';
import type { GuardWithStore } from './hub-guard.js';
import { type ListeningPlace, toListeningPlace } from './listening-place.js';
import type { HttpDoorOptions } from './options.js';
import type { Settings } from './settings.js';
import { createSharedPort } from './shared-port.js';

/** Every HTTP door, on one port. */
export interface HttpDoors {
  url: string;
  /** The same for other hubs. */
  askAt: string;
  /** Where code calls tools. */
  toolProxyUrl: string;
  /** Where a notebook's pages dial. */
  pagePort: PagePort;
  /** An address that opens the console, once, within 15 minutes. A secret until then. */
  newConsoleAddress(): string;
  /** The calls that run for their callers just now; the end waits for them. */
  readonly calls: HttpApp['calls'];
  /** Counts the Pythons of code mode. Undefined: nobody counts. */
  readonly kernelStarts: KernelStartObserver | undefined;
  /** Publishes the hub's address for the user's other commands. Rejects with `write_failed`. */
  writeAddress(): Promise<WrittenHubFile>;
  /** Takes no more requests, and lets what runs end, for so many milliseconds; in a cluster it hands sessions over. Before `close`. */
  drain(waitMs: number): Promise<void>;
  close(): Promise<void>;
}

export interface BehindHttp {
  settings: Settings;
  hub: Hub;
  servers: ConfigServers;
  guard: GuardWithStore;
  /** All servers, for the owner. */
  describe: () => HubReport;
  /** The notebooks of this process, for the owner; undefined before there are any. */
  notebooks: () => WatchedNotebooks | undefined;
  /** What the edits of the config did. */
  edits: WatchedConfig;
  /** An agent's session has ended: what is held for it alone can go. */
  endSession: (sessionId: string) => void;
  /** A session that began at another hub goes on here. */
  adoptSession: (sessionId: string) => void;
  /** Undefined: this hub is alone. */
  cluster?: ClusterOfHub | undefined;
}

const usualPort = 8765;
/** How long the last answers may take to the store that other hubs read. Milliseconds. */
const lastAnswersMs = 2000;

/** Binds the port. Rejects with `port_in_use`, `bad_usage` or `write_failed`, leaving nothing open. */
export async function openHttpDoors(options: HttpDoorOptions, behind: BehindHttp): Promise<HttpDoors> {
  const { settings, guard } = behind;
  const { stateDir, redactor, logger, config } = settings;
  if (config.auth !== undefined && options.auth === false)
    throw new BridgeError(
      'bad_usage',
      'The config has an authorization server ("auth"), which --no-auth would make of no use. Leave one of them out.',
    );
  const place = toListeningPlace(options);
  const ownerToken = ensureOwnerToken(stateDir);
  const { name = usualHubName } = options;
  redactor.add(ownerToken);
  await assertNameFree(name, { stateDir, ownerToken });
  const shared = createSharedPort();
  const metrics = await openMetrics(behind);
  const app = createApp(options, { place, behind, metrics });
  const consoles = new ConsoleSessions({ addSecret: (secret) => redactor.add(secret), typed: acceptTypedCodes(stateDir) });
  const known = { store: guard.store, ownerToken, noAuth: options.auth === false };
  const authority = createAuthority(known);
  const withTabs = createAuthority({ ...known, isTab: (token) => consoles.has(token) });
  const answers = behind.cluster && sharedAnswersOf(behind.cluster.cluster, logger);
  const kept = new KeptSessions({ dir: stateDir, name, logger });
  const { serversReadyMs } = options;
  const agents = addDoors(app, behind, { serversReadyMs, authority, withTabs, ownerToken, metrics, consoles, answers, kept });
  for (const path of [connectPath, `${connectPath}/:part`])
    app.addRoute({
      methods: ['GET'],
      path,
      handle: (context) => {
        if (!shared.onRequest(context.request, context.response)) context.refuse(refuse(404, 'No notebook page connects here.'));
      },
    });
  const { port = usualPort } = options;
  const { onConnection, onUpgrade } = shared;
  const listener = await listenHttp(app, { port, host: place.host, describePortOwner, onConnection, onUpgrade }).catch(async (error) => {
    throw codeOf(error) === 'port_in_use' ? await nameOwner(error, { port, stateDir }) : error;
  });
  if (behind.cluster === undefined) kept.open();
  const url = place.toUrl(listener.port);
  for (const warning of place.warnings) logger.warn(warning);
  return {
    url,
    askAt: place.toOutsideUrl(listener.port),
    toolProxyUrl: `${url}${proxyPrefix}`,
    pagePort: shared.at(listener.port, place.hosts),
    newConsoleAddress: () => newConsoleAddress(url, consoles),
    calls: app.calls,
    kernelStarts: metrics,
    writeAddress: () => writeHubFile(stateDir, { name, url, pid: process.pid, startedAt: Date.now(), version: ownVersion() }),
    drain: async (waitMs) => {
      app.drain();
      // Streams of agents stay until the calls have ended; a cluster has other hubs for them.
      if (behind.cluster === undefined) await settlesWithin(agents.settled(), waitMs);
      await agents.close();
      if (answers !== undefined) await settlesWithin(answers.settled(), lastAnswersMs);
    },
    close: async () => {
      await agents.close();
      if (behind.cluster === undefined) await kept.close();
      await listener.close();
    },
  };
}

/** Undefined where the config has none: then nothing of them is loaded. */
async function openMetrics({ settings: { config }, servers, guard, edits, cluster: ofHub }: BehindHttp): Promise<HubMetrics | undefined> {
  if (!config.telemetry.metrics) return undefined;
  const { HubMetrics } = await import('../telemetry/hub-metrics.js');
  const cluster = ofHub?.cluster;
  const metrics = new HubMetrics({
    servers,
    countApprovals: () => guard.pending.list().length,
    listGrants: () => guard.store.list(),
    edits,
    version: ownVersion(),
    cluster: cluster && {
      hubs: () => cluster.membership.hubs().length,
      isJoined: () => cluster.membership.isHeld(),
      isConnected: () => cluster.bus.isConnected,
      served: () => cluster.calls.servedCount,
      dropped: () => ({ ...cluster.calls.counts.dropped }),
    },
  });
  guard.observe(metrics);
  return metrics;
}

/** What the doors share besides what is behind them. */
interface BetweenDoors {
  serversReadyMs: number | undefined;
  authority: Authority;
  /** The same, and it knows the tabs of the console. */
  withTabs: Authority;
  ownerToken: string;
  metrics: HubMetrics | undefined;
  consoles: ConsoleSessions;
  /** Undefined: this hub is alone, and keeps its own. */
  answers: SharedAnswers | undefined;
  /** The sessions of agents over a restart of a hub that is alone. */
  kept: KeptSessions;
}

function createApp(
  { allowHosts = [], allowOrigins = [] }: HttpDoorOptions,
  { place, behind, metrics }: { place: ListeningPlace; behind: BehindHttp; metrics: HubMetrics | undefined },
): HttpApp {
  const { config, logger } = behind.settings;
  return createHttpApp({
    allowHosts: [...place.hosts, ...allowHosts],
    allowOrigins: [...allowOrigins],
    maxBodyBytes: config.limits.maxBodyBytes,
    logger,
    onRefused: (attempt) => {
      behind.guard.refusals.add(attempt);
      metrics?.refused(attempt);
    },
  });
}

function addDoors(
  app: HttpApp,
  behind: BehindHttp,
  { answers, authority, withTabs, ownerToken, metrics, consoles, serversReadyMs, kept }: BetweenDoors,
): McpHttpDoor {
  const { settings, hub, servers, guard, cluster: ofHub, describe, edits, endSession } = behind;
  const { config, logger, redactor, stateDir, recentLog: log } = settings;
  const cluster = ofHub?.cluster;
  const { maxResultBytes, maxInFlight, pollAfterMs } = config.limits;
  const watching: Authenticate = (authorization) => withTabs.authenticate(authorization, 'watch');
  const proxy = createToolProxy(app, {
    hub,
    servers,
    authenticate: (authorization) => withTabs.authenticate(authorization, 'tools'),
    listerOf: guard.admission.listerOf,
    prove: (nonce, port) => proveOwner(ownerToken, { nonce, port }),
    limits: { maxResultBytes, maxInFlight, ...(serversReadyMs === undefined ? {} : { serversReadyMs }) },
    ...(cluster !== undefined && { answers }),
    isDraining: () => app.isDraining,
    cluster: ofHub?.ownPlace,
    version: ownVersion(),
  });
  metrics?.addReadiness(() => isReady(proxyReadiness(proxy)));
  const tokens = config.auth && new AccessTokens({ auth: config.auth, store: guard.store, logger });
  const agents = createMcpHttpDoor(app, {
    hub,
    authenticate: (authorization) =>
      tokens?.isMeant(authorization) === true ? tokens.authenticate(authorization) : authority.authenticate(authorization, 'agent'),
    challenge: config.auth && addResourceMetadata(app, config.auth),
    endSession,
    adopted: behind.adoptSession,
    shelf: cluster?.sessions ?? kept,
    ...(cluster !== undefined && {
      relay: createSessionRelay(cluster),
      identify: (principal) => cluster.sessionIdOf(principal),
    }),
    limits: { pollAfterMs, ...(cluster !== undefined && { lastAnswersMs: cluster.drainMs }) },
  });
  const share = new TimeShare({ share: 0.2, burstMs: 1000 });
  createOwnerDoor(app, {
    servers,
    describe,
    agents: hub.agents,
    pending: guard.pending,
    calls: guard.calls,
    log,
    redactor,
    hub: { pid: process.pid, configFile: config.file, isCodeMode: config.codeMode.enabled },
    grants: { store: guard.store, admission: guard.admission },
    watched: { notebooks: behind.notebooks, elsewhere: new NotebooksElsewhere(stateDir, ownVersion()) },
    edits,
    cluster: ofHub?.watch,
    authenticate: watching,
    share,
  });
  createMetricsDoor(app, { metrics, scrapers: openScrapeTokens(settings), authenticate: watching, share });
  createConsoleDoor(app, { sessions: consoles, authenticate: (authorization) => authority.authenticate(authorization, 'tools') });
  createExchangeDoor(
    app,
    new GrantExchange({ store: guard.store, rules: config.exchange, readKeys: (path) => readFile(path, 'utf8'), logger }),
  );
  return agents;
}

function openScrapeTokens({ config: { telemetry }, logger, redactor }: Settings): MountedTokens | undefined {
  const { scrapeTokens: folder } = telemetry;
  return folder === undefined ? undefined : new MountedTokens({ folder, logger, addSecret: (secret) => redactor.add(secret) });
}

/** Ten minutes, and in this process what is too large for the store: as a hub that is alone keeps them. */
function sharedAnswersOf(cluster: Cluster, logger: Logger): SharedAnswers {
  const { bareStore, runtime, key } = cluster;
  const keepMs = 10 * 60_000;
  const large = new StoredAnswers({ maxAnswers: 1000, maxBytes: 64 * 1024 * 1024, keepMs, now: runtime.steady });
  return new SharedAnswers({
    store: bareStore,
    runtime,
    clusterKey: key,
    hubId: () => cluster.processMark,
    isHubAlive: (mark) => cluster.hubOfProcess(mark) !== undefined,
    large,
    keepMs,
    logger,
  });
}

/** Adds to the error if it is the user's own hub that has the port. */
async function nameOwner(error: unknown, { port, stateDir }: { port: number; stateDir: string }): Promise<BridgeError> {
  const hub = readHubFiles(stateDir).find(({ url }) => new URL(url).port === String(port));
  if (hub === undefined || !(await isOwnHub(hub.url, ensureOwnerToken(stateDir)))) {
    const text = error instanceof Error ? error.message.replace(', or leave --port out', '') : '';
    return new BridgeError('port_in_use', text.replace('End it, choose', 'End it, or choose'), { cause: error, data: { port } });
  }
  return new BridgeError(
    'port_in_use',
    `Your hub "${hub.name}" serves at ${hub.url} already (pid ${hub.pid}). Use that one, end it, or choose another --port.`,
    { cause: error, data: { port, pid: hub.pid } },
  );
}

/** Rejects with `bad_usage` if a hub of this user has the name: it would be found by nobody any more. */
async function assertNameFree(name: string, { stateDir, ownerToken }: { stateDir: string; ownerToken: string }): Promise<void> {
  const hub = readHubFile(stateDir, name);
  if (hub === undefined || !(await isOwnHub(hub.url, ownerToken))) return;
  throw new BridgeError(
    'bad_usage',
    `A hub of yours that is called "${name}" serves at ${hub.url} already (pid ${hub.pid}). Use that one, end it, or give this one another name: --name NAME`,
  );
}
