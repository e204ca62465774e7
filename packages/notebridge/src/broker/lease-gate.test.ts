import type { CallContext } from '@notebridge/protocol/core/call-context';
import { MemoryProvider, type RunnableTool } from '@notebridge/protocol/core/memory-provider';
import type { ProviderEvent } from '@notebridge/protocol/core/provider';
import type { JsonObject } from '@notebridge/protocol/json';
import { Listeners } from '@notebridge/protocol/util/listeners';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createContext } from '../../test/support/create-context.js';
import { Lease } from './lease.js';
import { LeaseGate } from './lease-gate.js';

const ran: string[] = [];
const tool = (name: string, annotations: JsonObject = {}): RunnableTool => ({
  name,
  inputSchema: { type: 'object' },
  annotations,
  run: async () => {
    ran.push(name);
    return { content: [] };
  },
});
const reading = { readOnlyHint: true };

/** Counts how often its tools are asked for, and has news when a test wants it. */
class TestProvider extends MemoryProvider {
  lists = 0;
  readonly news = new Listeners<ProviderEvent>();

  override request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    if (method === 'tools/list') this.lists += 1;
    return super.request(method, params, context);
  }

  override subscribe(listener: (event: ProviderEvent) => void): () => void {
    return this.news.add(listener);
  }
}

let provider: TestProvider;
let lease: Lease;
let gate: LeaseGate;
beforeEach(() => {
  ran.length = 0;
  provider = new TestProvider({ tools: [tool('edit'), tool('look', reading), tool('peek')] });
  lease = new Lease({ idleMs: 300_000, askMs: 1, isRunning: () => false, nextStep: 'Open a window.' });
  const agentOf = ({ caller }: { caller: { sessionId: string } }) => ({ id: caller.sessionId, name: caller.sessionId });
  gate = new LeaseGate({ provider, lease, agentOf, reads: new Set(['peek']) });
});
afterEach(() => {
  gate.close();
  lease.close();
});

/** Who has the notebook after this agent has called, and what the call came to. */
async function call(agent: string, name: unknown): Promise<string> {
  const params = { name, arguments: {} };
  const caller = { sessionId: agent, door: 'library', era: 'legacy', clientInfo: undefined } as const;
  const outcome = await gate.request('tools/call', params, createContext('tools/call', params, { caller })).then(
    (result) => (result.isError === true ? 'refused' : 'done'),
    () => 'failed',
  );
  return `${outcome}, ${lease.state.holder?.name ?? 'nobody'} has it`;
}

describe('LeaseGate', () => {
  it('lets everybody look, by the hint of the tool or by its name, and one agent change', async () => {
    expect(await call('one', 'look')).toBe('done, nobody has it');
    expect(await call('one', 'peek')).toBe('done, nobody has it');
    expect(await call('one', 'edit')).toBe('done, one has it');
    expect(await call('two', 'edit')).toBe('refused, one has it');
    expect(await call('two', 'look')).toBe('done, one has it');
    expect(await call('two', 'peek')).toBe('done, one has it');
    expect(ran).toEqual(['look', 'peek', 'edit', 'look', 'peek']);
  });

  it('holds a name that is no text for one that changes something: who may not change calls nothing by it', async () => {
    expect(await call('one', 'edit')).toBe('done, one has it');
    expect(await call('two', 7)).toBe('refused, one has it');
  });

  it('gives the notebook to nobody for a call of a tool that is not there', async () => {
    expect(await call('one', 'none')).toBe('failed, nobody has it');
  });

  it('asks again what only looks when the list has changed, and for no other news', async () => {
    const look = () => call('one', 'look');
    await look();
    await look();
    expect(provider.lists).toBe(1);
    provider.news.emit({ method: 'notifications/resources/list_changed' });
    await look();
    expect(provider.lists).toBe(1);
    provider.news.emit({ method: 'notifications/tools/list_changed' });
    await look();
    expect(provider.lists).toBe(2);
  });

  it('lists what asks for the notebook after the tools of the notebook, as one that may be called twice and destroys nothing', async () => {
    const { tools } = await gate.request('tools/list', {}, createContext('tools/list'));
    expect(tools).toMatchObject([
      { name: 'edit' },
      { name: 'look' },
      { name: 'peek' },
      { annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false } },
    ]);
  });
});
