import type { Provider } from '@notebridge/protocol/core/provider';
import { AgentSession } from '../doors/mcp/agent-session.js';
import { createTransportChannel, type SdkTransport } from '../doors/mcp/transport-channel.js';
import { Hub } from '../hub.js';

/** The MCP server that agents see: a hub under the reference's verbs. */
export class McpHost extends Hub {
  readonly #sessions = new Set<AgentSession>();

  /** Offers what a proxy server, or any provider, has. */
  mount(proxyServer: Provider): void {
    this.addProvider(proxyServer);
  }

  /** Serves one agent over a transport of the MCP SDKs (v1 or v2). The session ends with the transport. */
  async connect(transport: SdkTransport): Promise<AgentSession> {
    const channel = await createTransportChannel(transport);
    const session: AgentSession = new AgentSession({ hub: this, channel, door: 'library', onClose: () => this.#sessions.delete(session) });
    this.#sessions.add(session);
    return session;
  }

  /** Lets every agent go that `connect` has served. Closing twice is harmless. */
  override close(): void {
    super.close();
    for (const session of this.#sessions) session.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}
