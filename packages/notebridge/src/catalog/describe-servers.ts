import type { Tool } from '../core/mcp.js';
import type { Exposure, NameStyle, ServerStatus, ToolServer, ToolServers } from '../core/tool-server.js';
import { ToolNames } from './tool-names.js';

/** The status of a server and what it has, for its owner. Printed as it is by `notebridge servers --json`. */
export interface ServerReport {
  name: string;
  status: ServerStatus;
  /** When it came into this state, milliseconds since the epoch. */
  since: number;
  /** Of the process that was started; null for a server that is called by HTTP, is built in, or does not run. */
  pid: number | null;
  restarts: number;
  in_flight: number;
  /** Why it failed or is started again. */
  reason: string | null;
  /** False for a server that is built in. */
  is_config: boolean;
  expose: Exposure;
  names: NameStyle;
  description: string | null;
  /** Null: not asked for yet. */
  tools: DescribedTool[] | null;
}

export interface DescribedTool {
  name: string;
  /** What agents call it; null if it is not shown to them. */
  agent_name: string | null;
  description: string | null;
  input_schema: unknown;
  output_schema: unknown;
  annotations: unknown;
}

/** Describes all servers. Starts and asks nothing. */
export function describeServers(servers: ToolServers): ServerReport[] {
  const all = servers.all();
  const { direct } = new ToolNames(servers);
  const agentNames = new Map([...direct].map(([agentName, { server, tool }]) => [`${server}\0${tool}`, agentName]));
  return all.map((server) => toReport(server, (tool) => agentNames.get(`${server.name}\0${tool}`)));
}

function toReport(server: ToolServer, agentNameOf: (tool: string) => string | undefined): ServerReport {
  const { name, isConfig, expose, names = 'prefixed', description, knownTools } = server;
  const { status, since, pid, restarts, inFlight, reason } = server.state;
  const tools = knownTools?.map((tool) => toToolReport(tool, agentNameOf(tool.name)));
  return {
    name,
    status,
    since,
    pid: pid ?? null,
    restarts,
    in_flight: inFlight,
    reason: reason ?? null,
    is_config: isConfig,
    expose,
    names,
    description: description ?? null,
    tools: tools ?? null,
  };
}

function toToolReport(tool: Tool, agentName: string | undefined): DescribedTool {
  return {
    name: tool.name,
    agent_name: agentName ?? null,
    description: tool.description ?? null,
    input_schema: tool.inputSchema,
    output_schema: tool.outputSchema ?? null,
    annotations: tool.annotations ?? null,
  };
}
