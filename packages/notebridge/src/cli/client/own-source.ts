import { describeServers, type ServerReport } from '../../catalog/describe-servers.js';
import { loadConfig } from '../../config/load-config.js';
import { loadMiddlewareModules } from '../../config/load-middleware.js';
import { Cancellation } from '../../core/cancellation.js';
import { BridgeError } from '../../core/errors.js';
import type { Logger } from '../../core/logger.js';
import type { ToolAddress } from '../../core/tool-address.js';
import { unknownServer } from '../../doors/owner/unknown-server.js';
import { callTarget, proxyToolCall, type ToolCallResponse } from '../../doors/tool-proxy/proxy-tool-call.js';
import { createProxyContext } from '../../doors/tool-proxy/tool-proxy-context.js';
import { GrantStore } from '../../grants/grant-store.js';
import { Hub } from '../../hub.js';
import { quote } from '../../util/quote.js';
import { Redactor } from '../../util/redactor.js';
import { openGuard } from '../guard.js';
import { ownServerInfo } from '../hub-setup.js';
import { Closers } from '../serve/closers.js';
import { ConfigServers } from '../servers.js';
import { stateDir } from '../state-dir.js';
import type { ToolSource } from './tool-source.js';

export interface OwnSourceOptions {
  config: string | undefined;
  createLogger: (redactor: Redactor) => Logger;
}

/** The servers of the config in this process: each is started when it is asked for, and all end with `close`. Rejects with `bad_config`. */
export async function createOwnSource({ config: file, createLogger }: OwnSourceOptions): Promise<ToolSource> {
  const config = await loadConfig({ file, env: process.env });
  const middlewares = await loadMiddlewareModules(config.middleware, config.baseDir);
  const redactor = new Redactor();
  const logger = createLogger(redactor);
  const closers = new Closers();
  const serverInfo = ownServerInfo();
  const dir = stateDir();
  const store = await GrantStore.open({ dir, logger });
  closers.add(() => store.close());
  const servers = new ConfigServers({ config, logger, redactor, serverInfo });
  closers.add(() => servers.close());
  const guard = openGuard({ store, servers, audit: config.audit, stateDir: dir, logger, redactor });
  closers.add(() => guard.close());
  const hub = new Hub({ serverInfo, logger });
  for (const middleware of [guard.middleware, ...middlewares]) hub.addMiddleware(middleware);
  closers.add(() => hub.close());
  const proxy = createProxyContext({ hub, servers }, callTarget);
  const described = (name: string): ServerReport | undefined => describeServers(servers).find((report) => report.name === name);

  return {
    hub: undefined,
    servers: async () => {
      await servers.start();
      await Promise.allSettled(
        servers
          .all()
          .filter(isRunning)
          .map((server) => server.listTools()),
      );
      return describeServers(servers);
    },
    server: async (name) => {
      const server = servers.get(name);
      if (server === undefined) throw unknownServer(name, servers);
      await server.listTools();
      return described(name) ?? Promise.reject(unknownServer(name, servers));
    },
    call: async (address, args, { signal, onEvent }) => {
      if (servers.get(address.server) === undefined) throw unknownServer(address.server, servers);
      const cancellation = new Cancellation();
      const cancel = (): void => cancellation.cancel('The caller cancelled the call.');
      if (signal.aborted) cancel();
      signal.addEventListener('abort', cancel, { once: true });
      const answer = await proxyToolCall(proxy, address, {
        arguments: args,
        cancellation,
        onEvent:
          onEvent &&
          ((method, params) => {
            if (method === 'notifications/progress') onEvent({ event: 'progress', params });
            else if (method === 'notifications/message') onEvent({ event: 'log', params });
          }),
      });
      if (signal.aborted) throw new BridgeError('cancelled', 'The call was cancelled.');
      return answer.success ? answer : withToolNamed(answer, servers, address);
    },
    close: () => closers.close(),
  };
}

/** A server that was started for one call was not asked for its tools before; its own words may not say that it has no such tool. */
async function withToolNamed(answer: ToolCallResponse, servers: ConfigServers, { server, tool }: ToolAddress): Promise<ToolCallResponse> {
  const tools = await servers
    .get(server)
    ?.listTools()
    .catch(() => undefined);
  if (tools === undefined || tools.some(({ name }) => name === tool)) return answer;
  const error = `"${server}" has no tool ${quote(tool)}.`;
  return { ...answer, error_code: 'tool_not_found', error, is_error: false, result: null };
}

function isRunning({ state }: { state: { status: string } }): boolean {
  return state.status === 'running';
}
