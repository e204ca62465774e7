import type { Provider } from '@notebridge/protocol/core/provider';
import { createChannelPair } from '@notebridge/protocol/rpc/message-stream';
import { expect, onTestFinished } from 'vitest';
import { AgentSession } from '../../src/doors/mcp/agent-session.js';
import { Hub } from '../../src/hub.js';
import { PageSession } from '../../src/notebooks/pages/page-session.js';
import { ProxyServer } from '../../src/notebooks/pages/proxy-server.js';
import { createContractSource } from './contract-source.js';
import { describeProviderContract } from './provider-contract.js';

describeProviderContract('ProxyServer', createProxyServer);

/** A proxy in front of a page. The page is a hub of ours with one agent: the proxy. */
async function createProxyServer(): Promise<Provider> {
  const [pageEnd, proxyEnd] = createChannelPair();
  const hub = new Hub();
  hub.addProvider(createContractSource());
  const page = new AgentSession({ hub, channel: pageEnd, door: 'library' });
  const session = new PageSession(proxyEnd, {
    onNotification: ({ method, params }) => proxyServer.emit(params === undefined ? { method } : { method, params }),
  });
  const proxyServer = new ProxyServer({ clientFactory: () => session });
  await session.initialize();
  onTestFinished(async () => {
    expect(page.inFlight, 'calls left in flight').toBe(0);
    await session.close();
    page.close();
    hub.close();
  });
  return proxyServer;
}
