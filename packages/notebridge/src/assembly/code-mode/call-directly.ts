import { ToolNames } from '../../catalog/tool-names.js';
import type { CallDirectly } from '../../code-mode/agent-codemode/agent-codemode-provider.js';
import type { ToolResult } from '../../core/mcp.js';
import { RequestContext } from '../../core/request-context.js';
import { callTarget } from '../../doors/tool-proxy/proxy-tool-call.js';
import type { Hub } from '../../hub.js';
import type { ConfigServers } from '../config-servers.js';

/** A call without code, in the caller's own name: the guard judges, charges and records it as one of the agent's. */
export function createCallDirectly(hub: Pick<Hub, 'request'>, servers: ConfigServers): CallDirectly {
  const names = new ToolNames(servers);
  const terminal = callTarget(servers, names);
  return async (target, args, { callId, caller, cancellation, clientCapabilities, ask }) => {
    const asker =
      clientCapabilities === undefined || ask === undefined
        ? undefined
        : { clientCapabilities, ask: (_: unknown, ...rest: Parameters<typeof ask>) => ask(...rest) };
    const context = new RequestContext({
      ...{ method: 'tools/call', type: 'request', callId: `${callId}-direct`, caller, cancellation, target },
      message: { name: names.nameOf(target), arguments: args },
      notify: () => {},
      parent: { callId, ...(asker === undefined ? {} : { asker }) },
    });
    return (await hub.request(context, terminal)) as ToolResult;
  };
}
