import { Cancellation } from '@notebridge/protocol/core/cancellation';
import type { MayList } from '@notebridge/protocol/core/may-list';
import { owner, type Principal } from '@notebridge/protocol/core/principal';
import type { ToolServer } from '@notebridge/protocol/core/tool-server';
import { workWhileLive } from '@notebridge/protocol/core/while-live';
import { settlesWithin } from '@notebridge/protocol/util/settles-within';
import { describeListedTool } from '../../catalog/describe-servers.js';
import { isListed } from './proxy-tool-call.js';
import { findServer, type ToolProxy } from './tool-proxy-context.js';

export interface ProxyServerList {
  servers: ListedServer[];
  total: number;
}

type ListedServer = ReturnType<typeof toListed>;

/** The servers whose tools code may call, as far as the principal may know of them. Default principal: the owner. Rejects with `bad_grant`. */
export async function listProxyServers(proxy: ToolProxy, principal: Principal = owner): Promise<ProxyServerList> {
  const servers = proxy.servers.all().filter(({ name }) => findServer(proxy.servers, name) !== undefined);
  const cancellation = new Cancellation();
  const ask = (): Promise<unknown> => Promise.all(servers.map((server) => askForTools(server, cancellation.signal)));
  await workWhileLive(proxy.hub.whileLive, { principal, cancellation }, ask);
  const mayList = proxy.listerOf(principal);
  const listed = servers.filter((server) => isListed(server, mayList)).map((server) => toListed(server, mayList));
  return { servers: listed, total: listed.length };
}

function toListed({ name, isConfig, state, knownTools = [] }: ToolServer, mayList: MayList) {
  const tools = knownTools.filter((tool) => mayList(name, tool));
  return {
    id: name,
    name,
    /** False for a server that is built in. */
    is_config: isConfig,
    is_running: state.status === 'running',
    /** Empty for a server that was never started, or reports none: a list starts nothing and does not wait long. */
    tools: tools.map(describeListedTool),
  };
}

/** How long a list waits for servers that are asked for their tools. Milliseconds. */
const longestWaitMs = 5000;

/** Asks a server that runs, or is about to, for its tools if they were never listed. */
async function askForTools(server: ToolServer, signal: AbortSignal): Promise<void> {
  const { status } = server.state;
  if (server.knownTools !== undefined || (status !== 'running' && status !== 'starting')) return;
  await settlesWithin(server.listTools(), longestWaitMs, signal);
}
