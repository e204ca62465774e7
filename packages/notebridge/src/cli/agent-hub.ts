import { createToolNaming } from '../catalog/tool-naming.js';
import type { Middleware } from '../core/middleware.js';
import { McpHost } from '../reference/mcp-host.js';
import type { AgentServers } from './agent-servers.js';
import { createAuditLayer } from './audit-layer.js';
import type { HubSetup, NotebookSource } from './hub-setup.js';

/** The hub of a process that serves its owner alone: a notebook, and the servers of the config. */
export interface AgentHub<Source extends NotebookSource> {
  host: McpHost;
  source: Source;
  /** Ends all of it, the log too. */
  close(): Promise<void>;
}

/** Opens everything but a door. Rejects as `openSource` does, and leaves nothing open. */
export async function openAgentHub<Source extends NotebookSource>(
  setup: HubSetup,
  openSource: (setup: HubSetup) => Promise<Source>,
): Promise<AgentHub<Source>> {
  const { config, middlewares, logger, serverInfo } = setup;
  const host = new McpHost({ serverInfo, logger });
  let source: Source | undefined;
  let servers: AgentServers | undefined;
  const audit = createAuditLayer(setup, () => servers?.servers);
  const close = async (): Promise<void> => {
    host.close();
    // Code in the notebook gives its grant back before the servers and the grants are closed.
    try {
      await source?.close();
    } finally {
      await servers?.close();
      await audit.close();
      await logger.close();
    }
  };
  try {
    servers = await openServersIfAny(setup);
    const opened = servers?.servers;
    const openTools =
      opened &&
      (async () => {
        const { CodeTools } = await import('./notebook-tools/notebook-tools.js');
        const { maxResultBytes } = config.limits;
        return new CodeTools({ hub: host, servers: opened, openStore: audit.openStore, maxResultBytes });
      });
    source = await openSource({ ...setup, openTools, onRefused: audit.onRefused });
    host.mount(source.provider);
    if (opened !== undefined) host.mount(opened.provider);
    // The audit sees what really came; the user's own layers see every message as the agent does.
    const wantsGuard = config.audit !== false || opened !== undefined;
    const naming = opened === undefined ? [] : [createToolNaming(opened.provider)];
    const layers: Middleware[] = [...(wantsGuard ? [audit.middleware] : []), ...naming, ...middlewares, ...source.middlewares];
    for (const middleware of layers) host.addMiddleware(middleware);
    return { host, source, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Loaded only when the config has servers: without them an agent's start costs nothing more. */
async function openServersIfAny(setup: HubSetup): Promise<AgentServers | undefined> {
  const { servers, skills } = setup.config;
  if (servers.length === 0 && skills.length === 0) return undefined;
  const { openAgentServers } = await import('./agent-servers.js');
  return openAgentServers(setup);
}
