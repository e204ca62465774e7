// @module-tag deep
// @module-tag P-559

import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLegacyAgent, openModernAgent, type SendMessage } from '../support/http-agent.js';
import { HubCluster } from '../support/hub-cluster.js';
import { initialize } from '../support/mcp-http.js';
import { natsProgram, whyNoNats } from '../support/nats.js';

interface Said {
  text: string;
  isError: boolean;
}

async function callTool(agent: SendMessage, name: string, args: JsonObject = {}): Promise<Said> {
  const { result, error } = await agent('tools/call', { name, arguments: args });
  if (result === undefined) throw new Error(`${name}: ${JSON.stringify(error)}`);
  const content = result.content as { text?: string }[];
  return { text: content.map(({ text = '' }) => text).join('\n'), isError: result.isError === true };
}

async function idsOf(agent: SendMessage): Promise<string[]> {
  const { text } = await callTool(agent, 'list_notebooks');
  return (JSON.parse(text) as { notebooks: { id: string }[] }).notebooks.map(({ id }) => id);
}

describe.skipIf(natsProgram === undefined)(`notebooks of other hubs${whyNoNats}`, () => {
  let cluster: HubCluster;

  beforeAll(async () => {
    cluster = await HubCluster.start({ names: ['a', 'b'], args: () => ['--notebook', 'local', '--no-browser'] });
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  const agentAt = (name: string, as = name): Promise<SendMessage> => {
    const hub = cluster.hub(name);
    return openLegacyAgent(hub, () => hub.ownerToken, as);
  };

  it('are listed, connected, written and run as those of its own', async () => {
    const [first, second] = [await agentAt('a', 'First'), await agentAt('b', 'Second')];
    // A hub that does not answer in time is left out.
    await expect.poll(() => idsOf(first)).toHaveLength(2);
    const ids = await idsOf(first);
    const elsewhere = ids.find((id) => id.endsWith('@b')) ?? '';
    expect(elsewhere).toMatch(/^nb\d+@b$/);
    const connected = await callTool(first, 'connect_notebook', { notebook: elsewhere });
    expect(connected.text).toContain('"connected"');
    const added = await callTool(first, 'add_code_cell', { cellIndex: 0, language: 'python', code: 'print(6 * 7)' });
    expect(added.isError, added.text).toBe(false);
    const { newCellId } = JSON.parse(added.text) as { newCellId: string };
    const run = await callTool(first, 'run_code_cell', { cellId: newCellId });
    expect(run.text).toContain('42');
    // The agent of that hub sees the same notebook, and that another holds it.
    expect((await callTool(second, 'get_cells')).text).toContain('6 * 7');
    const refused = await callTool(second, 'add_text_cell', { cellIndex: 0, content: 'mine' });
    expect(refused.isError).toBe(true);
    expect(refused.text).toContain('First');
    // Its own one is another.
    const own = ids.find((id) => !id.includes('@')) ?? '';
    expect((await callTool(first, 'get_cells', { notebook: own })).text).not.toContain('6 * 7');
    const left = await callTool(first, 'disconnect_notebook', { notebook: elsewhere });
    expect(left.isError, left.text).toBe(false);
    await expect.poll(async () => (await callTool(second, 'add_text_cell', { cellIndex: 0, content: 'mine' })).isError).toBe(false);
  });

  it('are named by an agent of the modern era, too, and what runs there tells of its progress', async () => {
    const hub = cluster.hub('b');
    const agent = openModernAgent(hub, () => hub.ownerToken);
    const elsewhere = (await idsOf(agent)).find((id) => id.endsWith('@a')) ?? '';
    expect((await callTool(agent, 'connect_notebook', { notebook: elsewhere })).text).toContain('"connected"');
    const added = await callTool(agent, 'add_text_cell', { cellIndex: 0, content: 'from b', notebook: elsewhere });
    expect(added.isError, added.text).toBe(false);
    expect((await callTool(await agentAt('a'), 'get_cells')).text).toContain('from b');
  });

  it('are not guessed: an agent whose hub was drained says which one it means, before anything is called', async () => {
    const a = cluster.hub('a');
    const c = await cluster.add('c');
    await cluster.seen('a', ['b', 'c']);
    const accept = 'application/json, text/event-stream';
    const opened = await c.request('/mcp', { token: c.ownerToken, body: initialize(1, '2025-11-25', {}, 'Moved'), headers: { accept } });
    await opened.text();
    const headers = { accept, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-11-25' };
    const cells = async (id: number, hub: typeof a): Promise<string> => {
      const params = { name: 'get_cells', arguments: {} };
      return (
        await hub.request('/mcp', { token: hub.ownerToken, body: { jsonrpc: '2.0', id, method: 'tools/call', params }, headers })
      ).text();
    };
    expect(await cells(2, c)).toContain('cells');
    await c.stop();
    const moved = await cells(3, a);
    expect(moved).toContain('connect_notebook');
    expect(moved).toContain('"isError":true');
  });

  it('are said to be gone with their hub, and are there again with it', async () => {
    const agent = await agentAt('a');
    const elsewhere = (await idsOf(agent)).find((id) => id.endsWith('@b')) ?? '';
    await callTool(agent, 'connect_notebook', { notebook: elsewhere });
    await cluster.hub('b').stop();
    await cluster.seen('a', []);
    const { text, isError } = await callTool(agent, 'get_cells', { notebook: elsewhere }).catch((error: unknown) => ({
      text: String(error),
      isError: true,
    }));
    expect(isError).toBe(true);
    expect(text).toMatch(/with the hub \\?"b\\?", which is not there/);
    await cluster.add('b');
    await cluster.seen('a', ['b']);
    await expect.poll(async () => (await idsOf(agent)).some((id) => id.endsWith('@b'))).toBe(true);
  });
});
