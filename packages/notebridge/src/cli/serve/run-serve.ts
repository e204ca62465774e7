import { readFile } from 'node:fs/promises';
import { createToolNaming } from '../../catalog/tool-naming.js';
import type { CallContext } from '../../core/call-context.js';
import { BridgeError, codeOf } from '../../core/errors.js';
import type { Tool } from '../../core/mcp.js';
import type { OnRefused } from '../../core/refused-attempt.js';
import { createExchangeDoor } from '../../doors/exchange/exchange-door.js';
import { createHttpApp } from '../../doors/http/http-app.js';
import { type HttpListener, listenHttp } from '../../doors/http/listen.js';
import { createMcpHttpDoor } from '../../doors/mcp/http.js';
import { createOwnerDoor } from '../../doors/owner/owner-door.js';
import { createToolProxy, proxyPrefix } from '../../doors/tool-proxy/tool-proxy.js';
import { type Authority, createAuthority } from '../../grants/authority.js';
import { GrantExchange } from '../../grants/grant-exchange.js';
import { GrantStore } from '../../grants/grant-store.js';
import { isOwnHub, readHubFile, writeHubFile } from '../../grants/hub-file.js';
import { ensureOwnerToken, proveOwner } from '../../grants/owner-token.js';
import { Hub } from '../../hub.js';
import { describePortOwner } from '../../processes/port-owner.js';
import type { Redactor } from '../../util/redactor.js';
import { followConfig } from '../follow-config.js';
import { openGuard } from '../guard.js';
import { type HubSetup, type NotebookSource, type OwnLogger, prepareHub, untilSignal } from '../hub-setup.js';
import type { HubCommandOptions } from '../options.js';
import { ConfigServers } from '../servers.js';
import { toSource } from '../sources/to-source.js';
import { stateDir } from '../state-dir.js';
import { paintFor } from '../terminal.js';
import { createTerminalLogger } from '../terminal-logger.js';
import { ownVersion } from '../version.js';
import { Closers } from './closers.js';
import { createSharedPort } from './page-port.js';
import { type Place, toPlace } from './place.js';
import { openSharedFolder } from './shared-folder.js';
import { toStartText } from './start-text.js';

export interface ServeOptions extends HubCommandOptions {
  host?: string;
  /** False: nobody is asked for a token. */
  auth: boolean;
  sharedDir?: string;
}

/** From a signal to the end, whatever does not close. Milliseconds. */
const endMs = 3000;

/** Serves until a signal comes. Rejects with `bad_usage`, `bad_config`, `port_in_use` or `write_failed`, leaving nothing open. */
export async function runServe(options: ServeOptions): Promise<void> {
  const place = toPlace(options);
  const openSource = options.notebook === 'none' ? undefined : toSource(options.notebook);
  const setup = await prepareHub('serve', options, (redactor) => createServeLog(options, redactor));
  const ended = untilSignal(endMs);
  const closers = new Closers();
  try {
    await openHub(setup, { options, place, openSource, closers });
    await ended;
    setup.logger.info('Ending.');
  } finally {
    await closers.close();
    await setup.logger.close();
  }
}

interface Opening {
  options: ServeOptions;
  place: Place;
  openSource: ReturnType<typeof toSource> | undefined;
  closers: Closers;
}

/** Opens everything, the port before the servers: of two hubs on one port, the second starts nothing. */
async function openHub(setup: HubSetup, { options, place, openSource, closers }: Opening): Promise<void> {
  const { config, logger, redactor, serverInfo } = setup;
  const dir = stateDir();
  const ownerToken = ensureOwnerToken(dir);
  redactor.add(ownerToken);
  const store = await GrantStore.open({ dir, logger });
  closers.add(() => store.close());
  const authority = createAuthority({ store, ownerToken, noAuth: !options.auth });
  const exchange = new GrantExchange({ store, rules: config.exchange, readKeys: (path) => readFile(path, 'utf8'), logger });

  const servers = new ConfigServers({ ...setup, sharedDir: options.sharedDir });
  closers.add(() => servers.close());
  let source: NotebookSource | undefined;
  const notebookTools = async (context: CallContext): Promise<readonly Tool[]> => {
    const { tools } = (await source?.provider.request('tools/list', {}, context)) ?? {};
    return Array.isArray(tools) ? (tools as Tool[]) : [];
  };
  const guard = openGuard({ store, servers, audit: config.audit, stateDir: dir, logger, redactor, notebookTools });
  closers.add(() => guard.close());

  const hub = new Hub({ serverInfo, logger, mayHear: (principal, event) => guard.admission.mayHear(principal, event) });
  for (const middleware of [guard.middleware, createToolNaming(servers.provider), ...setup.middlewares]) hub.addMiddleware(middleware);
  hub.addProvider(servers.provider);
  closers.add(() => hub.close());

  const onRefused: OnRefused = (attempt) => guard.refusals.add(attempt);
  const pages = createSharedPort();
  const listener = await listen({
    setup,
    options,
    place,
    pages,
    authority,
    exchange,
    hub,
    servers,
    admission: guard.admission,
    onRefused,
    ownerToken,
  });
  closers.add(() => listener.close());

  const openTools = async () => {
    const { CodeTools } = await import('../notebook-tools/notebook-tools.js');
    return new CodeTools({ hub, servers, openStore: async () => store, maxResultBytes: config.limits.maxResultBytes });
  };
  source = await openSource?.({ ...setup, pages: pages.at(listener.port), openTools, onRefused });
  if (source !== undefined) {
    const opened = source;
    closers.add(() => opened.close());
    for (const middleware of source.middlewares) hub.addMiddleware(middleware);
    hub.addProvider(source.provider);
  }
  const watch = followConfig(setup, (changed) => servers.change(changed));
  closers.add(() => watch.close());
  void servers.start();

  const url = place.toUrl(listener.port);
  if (options.sharedDir !== undefined) {
    const shared = openSharedFolder({ dir: options.sharedDir, servers, hubUrl: `${url}${proxyPrefix}`, logger });
    closers.add(() => shared.close());
  }
  const file = await writeHubFile(dir, { url, pid: process.pid, startedAt: Date.now(), version: ownVersion() });
  closers.add(() => file.remove());
  for (const warning of place.warnings) logger.warn(warning);
  logger.info('Serving.', { url, pid: process.pid, servers: servers.all().map(({ name }) => name) });
  if (process.stderr.isTTY) process.stderr.write(toStartText({ url, options, servers, paint: paintFor(process.stderr) }));
}

interface Doors {
  setup: HubSetup;
  options: ServeOptions;
  place: Place;
  pages: ReturnType<typeof createSharedPort>;
  authority: Authority;
  exchange: GrantExchange;
  hub: Hub;
  servers: ConfigServers;
  admission: ReturnType<typeof openGuard>['admission'];
  onRefused: OnRefused;
  ownerToken: string;
}

/** Every door on one port. Rejects with `port_in_use`. */
async function listen(doors: Doors): Promise<HttpListener> {
  const { setup, options, place, pages, authority, exchange, hub, servers, admission, onRefused, ownerToken } = doors;
  const { limits } = setup.config;
  const allowHosts = [...place.hosts, ...options.allowHost];
  const { maxBodyBytes } = limits;
  const app = createHttpApp({ allowHosts, allowOrigins: options.allowOrigin, maxBodyBytes, logger: setup.logger, onRefused });
  let port = 0;
  const asCode = (authorization: string | undefined) => authority.authenticate(authorization, 'tools');
  createToolProxy(app, {
    hub,
    servers,
    authenticate: asCode,
    mayList: (principal, address, tool) => admission.mayList(principal, address, tool),
    mayListWhole: (principal, server) => admission.mayListWhole(principal, server),
    prove: (nonce) => proveOwner(ownerToken, { nonce, port }),
    limits: { maxResultBytes: limits.maxResultBytes, maxInFlight: limits.maxInFlight },
    version: ownVersion(),
  });
  const agents = createMcpHttpDoor(app, {
    hub,
    authenticate: (authorization) => authority.authenticate(authorization, 'agent'),
    endSession: (sessionId) => void servers.endSession(sessionId),
  });
  createOwnerDoor(app, { servers, authenticate: asCode });
  createExchangeDoor(app, exchange);
  try {
    const listener = await listenHttp(app, { port: options.port, host: place.host, describePortOwner, ...pages });
    port = listener.port;
    return {
      port,
      close: async () => {
        await agents.close();
        await listener.close();
      },
    };
  } catch (error) {
    await app.close();
    throw codeOf(error) === 'port_in_use' ? await whoIsThere(error, options.port) : error;
  }
}

/** Says so if it is the user's own hub that has the port. */
async function whoIsThere(error: unknown, port: number): Promise<unknown> {
  const dir = stateDir();
  const hub = readHubFile(dir);
  if (hub === undefined || new URL(hub.url).port !== String(port) || !(await isOwnHub(hub.url, ensureOwnerToken(dir)))) {
    const text = error instanceof Error ? error.message.replace(', or leave --port out', '') : '';
    return new BridgeError('port_in_use', text.replace('End it, choose', 'End it, or choose'), { cause: error, data: { port } });
  }
  return new BridgeError(
    'port_in_use',
    `A hub of yours serves at ${hub.url} already (pid ${hub.pid}). Use that one, end it, or choose another --port.`,
    { cause: error, data: { port, pid: hub.pid } },
  );
}

function createServeLog({ logLevel }: ServeOptions, redactor: Redactor): OwnLogger {
  const { stderr } = process;
  const format = stderr.isTTY ? 'text' : 'json';
  const logger = createTerminalLogger({ level: logLevel, redactor, write: (text) => stderr.write(text), format, paint: paintFor(stderr) });
  return { ...logger, close: async () => {} };
}
