import { BridgeError } from '@notebridge/protocol/core/errors';
import type { RunnableTool } from '@notebridge/protocol/core/memory-provider';
import { MemoryToolServer, MemoryToolServers } from '@notebridge/protocol/core/memory-tool-server';
import type { Middleware } from '@notebridge/protocol/core/middleware';
import type { Principal } from '@notebridge/protocol/core/principal';
import type { ToolServer } from '@notebridge/protocol/core/tool-server';
import type { WhileLive } from '@notebridge/protocol/core/while-live';
import { parseJson } from '@notebridge/protocol/exact-json';
import type { JsonObject } from '@notebridge/protocol/json';
import type { Logger } from '@notebridge/protocol/util/logger';
import { createHttpApp, type HttpApp, type HttpAppOptions } from '../../src/doors/http/http-app.js';
import { type HttpListener, type ListenOptions, listenHttp } from '../../src/doors/http/listen.js';
import { createToolProxy, type ToolProxyDoorOptions } from '../../src/doors/tool-proxy/tool-proxy.js';
import type { ToolProxy } from '../../src/doors/tool-proxy/tool-proxy-context.js';
import { Hub } from '../../src/hub.js';
import { createTestTools, type TestTools } from './test-tools.js';

export interface OpenOptions extends Partial<ToolProxyDoorOptions> {
  tools?: RunnableTool[];
  servers?: MemoryToolServers;
  more?: ToolServer[];
  middleware?: Middleware[];
  /** Default: every grant lives for ever. */
  whileLive?: WhileLive;
  http?: HttpAppOptions;
  listen?: Partial<ListenOptions>;
}

export interface LogLine {
  level: string;
  message: string;
  fields: JsonObject | undefined;
}

/** A hub with a tool proxy on a real port. `github` is its server; the token is `good`. */
export interface OpenToolProxy extends AsyncDisposable {
  app: HttpApp;
  proxy: ToolProxy;
  listener: HttpListener;
  servers: MemoryToolServers;
  test: TestTools;
  /** With the prefix. */
  url: string;
  origin: string;
  log: LogLine[];
  call(tool: string, args?: unknown, init?: RequestInit): Promise<Response>;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  close(): Promise<void>;
}

export const token = 'good';
export const jsonHeaders = { 'content-type': 'application/json', authorization: `Bearer ${token}` };

export async function openToolProxy(options: OpenOptions = {}): Promise<OpenToolProxy> {
  const test = createTestTools();
  const servers = options.servers ?? new MemoryToolServers();
  servers.add(new MemoryToolServer({ name: 'github', tools: [...test.tools, ...(options.tools ?? [])] }));
  for (const server of options.more ?? []) servers.add(server);
  const log: LogLine[] = [];
  const hub = new Hub({ logger: toLogger(log), whileLive: options.whileLive });
  for (const middleware of options.middleware ?? []) hub.addMiddleware(middleware);
  const app = createHttpApp({ logger: hub.logger, ...options.http });
  const proxy = createToolProxy(app, { hub, authenticate, ...options, servers });
  const listener = await listenHttp(app, { port: 0, ...options.listen });
  const origin = `http://127.0.0.1:${listener.port}`;
  const url = `${origin}/api/v1/mcp/proxy`;
  const close = (): Promise<void> => listener.close();
  return {
    app,
    proxy,
    listener,
    servers,
    test,
    url,
    origin,
    log,
    call: (tool, args = {}, init = {}) =>
      fetch(`${url}/github/tools/${tool}`, {
        method: 'POST',
        body: JSON.stringify({ arguments: args }),
        ...init,
        headers: { ...jsonHeaders, ...(init.headers as Record<string, string> | undefined) },
      }),
    get: (path, headers = {}) => fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The answer as it was printed, numbers to the letter. */
export async function jsonOf(response: Response | Promise<Response>): Promise<JsonObject> {
  return parseJson(await (await response).text()) as JsonObject;
}

/** Lets in `good` and `other` as two grants, and tells apart why anybody else is not. */
export function authenticate(authorization: string | undefined): Principal {
  const given = authorization?.replace(/^Bearer /, '');
  if (given === 'good' || given === 'other') return { kind: 'grant', grantId: given };
  if (given === 'owner') return { kind: 'owner' };
  const reason = given === undefined ? 'missing' : given === 'of-an-agent' ? 'wrong_door' : 'unknown';
  throw new BridgeError('bad_grant', `The token is ${reason}.`, { data: { reason } });
}

function toLogger(log: LogLine[]): Logger {
  const at =
    (level: string) =>
    (message: string, fields?: JsonObject): void =>
      void log.push({ level, message, fields });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
