import type { Tool } from '../core/mcp.js';
import type { Exposure, NameStyle, ServerStatus, ToolServer, ToolServers } from '../core/tool-server.js';
import type { PolicyReport } from './policy-report.js';
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
  /** True while it has been starting for longer than it has taken before, and than ten seconds. */
  starting_late: boolean;
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
  /** Whether a person has to approve its calls. */
  needs_approval: boolean;
}

/** All servers, and how their tools are called. */
export interface HubReport {
  servers: ServerReport[];
  policy: PolicyReport;
}

/** Whether a person has to approve the calls of a tool. */
export type NeedsApproval = (server: string, tool: Tool) => boolean;

/** Describes all servers. Starts and asks nothing. */
export function describeServers(servers: ToolServers, needsApproval: NeedsApproval): ServerReport[] {
  const all = servers.all();
  const { direct } = new ToolNames(servers);
  const agentNames = new Map([...direct].map(([agentName, { server, tool }]) => [`${server}\0${tool}`, agentName]));
  return all.map((server) =>
    toReport(server, (tool) => ({
      ...toToolReport(tool),
      agent_name: agentNames.get(`${server.name}\0${tool.name}`) ?? null,
      needs_approval: needsApproval(server.name, tool),
    })),
  );
}

function toReport(server: ToolServer, describe: (tool: Tool) => DescribedTool): ServerReport {
  const { name, isConfig, expose, names = 'prefixed', description, knownTools } = server;
  const { status, since, pid, restarts, isLate = false, inFlight, reason } = server.state;
  return {
    name,
    status,
    since,
    pid: pid ?? null,
    restarts,
    starting_late: isLate,
    in_flight: inFlight,
    reason: reason ?? null,
    is_config: isConfig,
    expose,
    names,
    description: description ?? null,
    tools: knownTools?.map(describe) ?? null,
  };
}

function toToolReport(tool: Tool): Omit<DescribedTool, 'agent_name' | 'needs_approval'> {
  return {
    name: tool.name,
    description: tool.description ?? null,
    input_schema: tool.inputSchema,
    output_schema: tool.outputSchema ?? null,
    annotations: tool.annotations ?? null,
  };
}
