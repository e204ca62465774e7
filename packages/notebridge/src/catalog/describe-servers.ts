import type { Tool } from '@notebridge/protocol/core/mcp';
import type { ToolServer, ToolServers } from '@notebridge/protocol/core/tool-server';
import type { PolicyReport } from './policy-report.js';
import { ToolNames, toolKeyOf } from './tool-names.js';

/** The status of a server and what it has, for its owner. Printed as it is by `notebridge servers --json`. */
export type ServerReport = ReturnType<typeof toReport>;

/** All servers, and how their tools are called. */
export interface HubReport {
  servers: ServerReport[];
  policy: PolicyReport;
}

/** Whether a person has to approve the calls of a tool. */
export type NeedsApproval = (server: string, tool: Tool) => boolean;

/** Describes all servers. Starts and asks nothing. */
export function describeServers(servers: ToolServers, needsApproval: NeedsApproval): ServerReport[] {
  const { direct } = new ToolNames(servers);
  const agentNames = new Map([...direct].map(([agentName, address]) => [toolKeyOf(address), agentName]));
  const agentNameOf = (server: string, tool: string): string | null => agentNames.get(toolKeyOf({ server, tool })) ?? null;
  return servers.all().map((server) => toReport(server, { agentNameOf, needsApproval }));
}

function toReport(
  server: ToolServer,
  { agentNameOf, needsApproval }: { agentNameOf: (server: string, tool: string) => string | null; needsApproval: NeedsApproval },
) {
  const { name, isConfig, expose, names = 'prefixed', description, knownTools } = server;
  const { status, since, pid, restarts, isLate = false, inFlight, reason } = server.state;
  return {
    name,
    status,
    /** When it came into this state, milliseconds since the epoch. */
    since,
    /** The process that was started; null for a server that is called by HTTP, is built in, or does not run. */
    pid: pid ?? null,
    restarts,
    /** True while it has been starting for longer than it has taken before, and than ten seconds. */
    starting_late: isLate,
    in_flight: inFlight,
    /** Why it failed or is started again. */
    reason: reason ?? null,
    /** False for a server that is built in. */
    is_config: isConfig,
    expose,
    names,
    description: description ?? null,
    /** Null: not asked for yet. */
    tools:
      knownTools?.map((tool) => ({
        ...describeListedTool(tool),
        /** The name that agents call it by; null if it is not shown to them. */
        agent_name: agentNameOf(name, tool.name),
        /** Whether a person has to approve its calls. */
        needs_approval: needsApproval(name, tool),
      })) ?? null,
  };
}

/** A tool as its server lists it, as JSON has it everywhere: names with underscores. */
export function describeListedTool({ name, description, inputSchema, outputSchema, annotations }: Tool) {
  return {
    name,
    description: description ?? null,
    input_schema: inputSchema,
    output_schema: outputSchema ?? null,
    annotations: annotations ?? null,
  };
}
