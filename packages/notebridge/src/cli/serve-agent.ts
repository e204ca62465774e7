import type { Middleware } from '../core/middleware.js';
import { serveStdio } from '../doors/mcp/stdio.js';
import { McpHost } from '../reference/mcp-host.js';
import type { AgentServers } from './agent-servers.js';
import { createAuditLayer } from './audit-layer.js';
import { type HubSetup, type NotebookSource, untilSignal } from './hub-setup.js';

/** Serves one agent on stdio until it closes its end, a signal comes, or a person ends it; then closes everything. */
export async function serveAgent(setup: HubSetup, openSource: (setup: HubSetup) => Promise<NotebookSource>): Promise<void> {
  const { config, middlewares, logger, serverInfo } = setup;
  const host = new McpHost({ serverInfo, logger });
  let source: NotebookSource | undefined;
  let servers: AgentServers | undefined;
  const audit = createAuditLayer(setup, () => servers?.servers);
  try {
    servers = await openServersIfAny(setup);
    source = await openSource(setup);
    host.mount(source.provider);
    if (servers !== undefined) host.mount(servers.servers.provider);
    // The audit sees what really came; the user's own layers see every message as the agent does.
    const layers: Middleware[] = [...(audit === undefined ? [] : [audit.middleware]), ...middlewares, ...source.middlewares];
    for (const middleware of layers) host.addMiddleware(middleware);
    const door = serveStdio(host, { maxMessageLength: config.limits.maxMessageBytes, maxInFlight: config.limits.maxInFlight });
    logger.info('Serving an agent over stdio.');
    await Promise.race([door.closed, untilSignal(), ...(source.ended === undefined ? [] : [source.ended])]);
    door.close();
    await door.closed;
  } finally {
    host.close();
    await Promise.all([source?.close(), servers?.close()]);
    await audit?.close();
    await logger.close();
  }
}

/** Loaded only when the config has servers: without them an agent's start costs nothing more. */
async function openServersIfAny(setup: HubSetup): Promise<AgentServers | undefined> {
  const { servers, skills } = setup.config;
  if (servers.length === 0 && skills.length === 0) return undefined;
  const { openAgentServers } = await import('./agent-servers.js');
  return openAgentServers(setup);
}
