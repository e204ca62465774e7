// @module-tag deep

import type { Provider } from '@notebridge/protocol/core/provider';
import { createChannelPair } from '@notebridge/protocol/rpc/message-stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AgentSession } from '../../src/doors/mcp/agent-session.js';
import { Hub } from '../../src/hub.js';
import type { OpenLink } from '../../src/upstreams/link.js';
import { createContext } from '../support/create-context.js';
import { fixtureConfig, openUpstreams } from '../support/upstreams.js';
import { createContractSource } from './contract-source.js';
import { describeProviderContract } from './provider-contract.js';

describe.each(['legacy', 'modern'] as const)('in the %s era', (era) => {
  describeProviderContract('Upstream', () => createUpstream(era));
});

describe('Upstream with an instance for each agent', () => {
  it('has at most 64 of them at work, and one more when one has ended', async () => {
    const { server } = openUpstreams([fixtureConfig('', [], { instances: 'per-agent' })], { openLink: createOpenLink() });
    const callAs = (sessionId: string, name: string) => {
      const context = createContext('tools/call', { name }, { caller: { ...caller, sessionId } });
      return { context, answer: server().request('tools/call', context.message, context) };
    };
    const working = Array.from({ length: 64 }, (_, n) => callAs(`agent ${n}`, 'wait'));
    await expect(callAs('one more', 'count_waiting').answer).rejects.toMatchObject({ code: 'limit_reached' });
    const ended = working.map(({ answer }) => expect(answer).rejects.toMatchObject({ code: 'cancelled' }));
    working[7]?.context.cancellation.cancel('not wanted any more');
    await ended[7];
    expect(await callAs('one more', 'count_waiting').answer).toMatchObject({ structuredContent: { waiting: 0 } });
    for (const { context } of working) context.cancellation.cancel('not wanted any more');
    await Promise.all(ended);
  });
});

const caller = { door: 'library', era: 'legacy', clientInfo: undefined } as const;

/** An upstream in front of a server. The server is a hub of ours with one agent: the upstream. */
async function createUpstream(era: 'legacy' | 'modern'): Promise<Provider> {
  const openLink = createOpenLink((agent) => expect(agent.inFlight, 'calls left in flight').toBe(era === 'modern' ? 1 : 0));
  const { upstreams, server } = openUpstreams([fixtureConfig('', [], { era })], { openLink });
  await upstreams.start();
  await server().listTools();
  return server();
}

function createOpenLink(check: (agent: AgentSession) => void = () => {}): OpenLink {
  return async () => {
    const [serverEnd, channel] = createChannelPair();
    const hub = new Hub();
    hub.addProvider(createContractSource());
    const agent = new AgentSession({ hub, channel: serverEnd, door: 'library' });
    const close = async (): Promise<void> => {
      agent.endListens();
      channel.outgoing.close();
      agent.close();
      hub.close();
    };
    onTestFinished(() => check(agent));
    return { channel, close };
  };
}
