import { readFile } from 'node:fs/promises';
import { NotebooksElsewhere } from '../broker/ask-host.js';
import type { HubReport } from '../catalog/describe-servers.js';
import type { WatchedConfig } from '../core/config-edit.js';
import { BridgeError, codeOf } from '../core/errors.js';
import { owner } from '../core/principal.js';
import type { WatchedNotebooks } from '../core/watched-notebooks.js';
import { connectPath } from '../doors/connect/connect-door.js';
import { createConsoleDoor, newConsoleAddress } from '../doors/console/console-door.js';
import { ConsoleSessions } from '../doors/console/console-sessions.js';
import { createExchangeDoor } from '../doors/exchange/exchange-door.js';
import { createHttpApp, type HttpApp } from '../doors/http/http-app.js';
import { listenHttp } from '../doors/http/listen.js';
import { refuse } from '../doors/http/refusal.js';
import { createMcpHttpDoor, type McpHttpDoor } from '../doors/mcp/http.js';
import { createMetricsDoor } from '../doors/metrics/metrics-door.js';
import { createOwnerDoor } from '../doors/owner/owner-door.js';
import { TimeShare } from '../doors/owner/time-share.js';
import { addResourceMetadata } from '../doors/resource/resource-metadata.js';
import { createToolProxy, proxyPrefix } from '../doors/tool-proxy/tool-proxy.js';
import { AccessTokens } from '../grants/access-tokens.js';
import { type Authority, createAuthority } from '../grants/authority.js';
import { GrantExchange } from '../grants/grant-exchange.js';
import type { Hub } from '../hub.js';
import { isOwnHub, readHubFile, type WrittenHubFile, writeHubFile } from '../identity/hub-file.js';
import { ensureOwnerToken, proveOwner } from '../identity/owner-token.js';
import type { PagePort } from '../notebooks/pages/page-listener.js';
import { describePortOwner } from '../processes/port-owner.js';
import { ownVersion } from '../state/own-files.js';
import type { HubMetrics } from '../telemetry/hub-metrics.js';
import type { ConfigServers } from './config-servers.js';
import type { GuardWithStore } from './lazy-guard.js';
import { type ListeningPlace, toListeningPlace } from './listening-place.js';
import type { HttpDoorOptions } from './options.js';
import type { Settings } from './settings.js';
import { createSharedPort } from './shared-port.js';

/** Every HTTP door, on one port. */
export interface HttpDoors {
  url: string;
  /** Where code calls tools. */
  toolProxyUrl: string;
  /** Where a notebook's pages dial. */
  pagePort: PagePort;
  /** An address that opens the console, once, within 15 minutes. A secret until then. */
  newConsoleAddress(): string;
  /** Publishes the hub's address for the user's other commands. Rejects with `write_failed`. */
  writeAddress(): Promise<WrittenHubFile>;
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
}

const usualPort = 8765;

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
  redactor.add(ownerToken);
  const authority = createAuthority({ store: guard.store, ownerToken, noAuth: options.auth === false });
  const shared = createSharedPort();
  const metrics = await openMetrics(behind);
  const app = createApp(options, { place, behind, metrics });
  const consoles = new ConsoleSessions({ addSecret: (secret) => redactor.add(secret) });
  const agents = addDoors(app, { ...behind, authority, ownerToken, metrics, consoles });
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
  const url = place.toUrl(listener.port);
  for (const warning of place.warnings) logger.warn(warning);
  return {
    url,
    toolProxyUrl: `${url}${proxyPrefix}`,
    pagePort: shared.at(listener.port),
    newConsoleAddress: () => newConsoleAddress(url, consoles),
    writeAddress: () => writeHubFile(stateDir, { url, pid: process.pid, startedAt: Date.now(), version: ownVersion() }),
    close: async () => {
      await agents.close();
      await listener.close();
    },
  };
}

/** Undefined where the config has none: then nothing of them is loaded. */
async function openMetrics({ settings: { config }, servers, guard }: BehindHttp): Promise<HubMetrics | undefined> {
  if (!config.telemetry.metrics) return undefined;
  const { HubMetrics } = await import('../telemetry/hub-metrics.js');
  const metrics = new HubMetrics({
    servers,
    countApprovals: () => guard.pending.list().length,
    countGrants: () => guard.store.list().length,
    version: ownVersion(),
  });
  guard.observers.add(metrics);
  return metrics;
}

interface AddedDoors extends BehindHttp {
  authority: Authority;
  ownerToken: string;
  metrics: HubMetrics | undefined;
  consoles: ConsoleSessions;
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
  { settings, hub, servers, guard, describe, notebooks, edits, endSession, authority, ownerToken, metrics, consoles }: AddedDoors,
): McpHttpDoor {
  const { config, logger } = settings;
  const { maxResultBytes, maxInFlight, pollAfterMs } = config.limits;
  const byToken = (authorization: string | undefined) => authority.authenticate(authorization, 'tools');
  const watching = (authorization: string | undefined) =>
    consoles.has(authorization) ? owner : authority.authenticate(authorization, 'watch');
  const authenticate = (authorization: string | undefined) => (consoles.has(authorization) ? owner : byToken(authorization));
  createToolProxy(app, {
    hub,
    servers,
    authenticate,
    mayList: (principal, address, tool) => guard.admission.mayList(principal, address, tool),
    mayListWhole: (principal, server) => guard.admission.mayListWhole(principal, server),
    prove: (nonce, port) => proveOwner(ownerToken, { nonce, port }),
    limits: { maxResultBytes, maxInFlight },
    version: ownVersion(),
  });
  const tokens = config.auth && new AccessTokens({ auth: config.auth, store: guard.store, logger });
  const agents = createMcpHttpDoor(app, {
    hub,
    authenticate: (authorization) =>
      tokens?.isMeant(authorization) === true ? tokens.authenticate(authorization) : authority.authenticate(authorization, 'agent'),
    challenge: config.auth && addResourceMetadata(app, config.auth),
    endSession,
    limits: { pollAfterMs },
  });
  const share = new TimeShare({ share: 0.2, burstMs: 1000 });
  createOwnerDoor(app, {
    servers,
    describe,
    agents: hub.agents,
    pending: guard.pending,
    calls: guard.calls,
    log: settings.recentLog,
    redactor: settings.redactor,
    hub: { pid: process.pid, configFile: config.file, isCodeMode: config.codeMode.enabled },
    grants: { store: guard.store, admission: guard.admission },
    watched: { notebooks, elsewhere: new NotebooksElsewhere(settings.stateDir, ownVersion()) },
    edits,
    authenticate: watching,
    share,
  });
  createMetricsDoor(app, { metrics, authenticate: watching, share });
  createConsoleDoor(app, { sessions: consoles, authenticate: byToken });
  createExchangeDoor(
    app,
    new GrantExchange({ store: guard.store, rules: config.exchange, readKeys: (path) => readFile(path, 'utf8'), logger }),
  );
  return agents;
}

/** Adds to the error if it is the user's own hub that has the port. */
async function nameOwner(error: unknown, { port, stateDir }: { port: number; stateDir: string }): Promise<BridgeError> {
  const hub = readHubFile(stateDir);
  if (hub === undefined || new URL(hub.url).port !== String(port) || !(await isOwnHub(hub.url, ensureOwnerToken(stateDir)))) {
    const text = error instanceof Error ? error.message.replace(', or leave --port out', '') : '';
    return new BridgeError('port_in_use', text.replace('End it, choose', 'End it, or choose'), { cause: error, data: { port } });
  }
  return new BridgeError(
    'port_in_use',
    `A hub of yours serves at ${hub.url} already (pid ${hub.pid}). Use that one, end it, or choose another --port.`,
    { cause: error, data: { port, pid: hub.pid } },
  );
}
