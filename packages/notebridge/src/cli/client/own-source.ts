import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { ToolAddress } from '@notebridge/protocol/core/tool-address';
import type { ToolServers } from '@notebridge/protocol/core/tool-server';
import { quote } from '@notebridge/protocol/util/quote';
import { createNotebridge } from '../../assembly/create-notebridge.js';
import type { ServerReport } from '../../catalog/describe-servers.js';
import { loadConfig } from '../../config/load-config.js';
import { unknownServer } from '../../doors/owner/unknown-server.js';
import { callTarget, proxyToolCall } from '../../doors/tool-proxy/proxy-tool-call.js';
import type { ToolCallResponse } from '../../doors/tool-proxy/to-answer.js';
import { createProxyContext } from '../../doors/tool-proxy/tool-proxy-context.js';
import { createVerboseLogger } from '../terminal-logger.js';
import { leaveToCluster } from './left-to-cluster.js';
import type { ToolSource } from './tool-source.js';

/**
 * The servers of the config in this process: each is started when it is asked for, and all end with `close`. `isInPlaceOfHub`: no hub of the
 * user was found to ask. Rejects with `bad_config`.
 */
export async function createOwnSource(config: string | undefined, isInPlaceOfHub: boolean): Promise<ToolSource> {
  const read = await loadConfig({ file: config, env: process.env });
  // Who asks may mean a hub that has ended, or one with another state folder.
  const noHub = isInPlaceOfHub ? 'no hub of yours runs, and ' : '';
  const noServers = `${noHub}${read.file === undefined ? 'there is no config' : `the config ${quote(read.file)} names none`}`;
  const unknown = (name: string): BridgeError => unknownServer(name, servers, noServers);
  const left = leaveToCluster(read);
  const bridge = await createNotebridge({
    config: left.config,
    startServers: false,
    followConfig: false,
    createLogger: createVerboseLogger,
  });
  await bridge.start();
  const { hub, servers } = bridge;
  const proxy = createProxyContext({ hub, servers }, callTarget);
  const described = (name: string): ServerReport | undefined => bridge.describe().servers.find((report) => report.name === name);

  return {
    hub: undefined,
    servers: async () => {
      await bridge.startServers();
      await Promise.allSettled(
        servers
          .all()
          .filter(isRunning)
          .map((server) => server.listTools()),
      );
      return bridge.describe().servers.map(left.describe);
    },
    policy: async () => bridge.describe().policy,
    server: async (name) => {
      left.assertNotOne(name);
      const server = servers.get(name);
      if (server === undefined) throw unknown(name);
      await server.listTools();
      return described(name) ?? Promise.reject(unknown(name));
    },
    call: async (address, args, { signal, isTyped, onEvent }) => {
      left.assertNotOne(address.server);
      if (servers.get(address.server) === undefined) throw unknown(address.server);
      const cancellation = new Cancellation();
      const cancel = (): void => cancellation.cancel('The caller cancelled the call.');
      if (signal.aborted) cancel();
      signal.addEventListener('abort', cancel, { once: true });
      const answer = await proxyToolCall(proxy, address, {
        arguments: args,
        cancellation,
        isTyped,
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
    close: () => bridge.close(),
  };
}

/** A server that was started for one call was not asked for its tools before; its own words may not say that it has no such tool. */
async function withToolNamed(answer: ToolCallResponse, servers: ToolServers, { server, tool }: ToolAddress): Promise<ToolCallResponse> {
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
