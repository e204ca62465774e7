// @module-tag deep
// @module-tag P-565

import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLegacyAgent, type SendMessage } from '../support/http-agent.js';
import { HubCluster } from '../support/hub-cluster.js';
import { natsProgram, whyNoNats } from '../support/nats.js';
import { addressIn } from '../support/program.js';
import { RawPage } from '../support/raw-page.js';

const slow = 240_000;

describe.skipIf(natsProgram === undefined)(`a notebook page and three hubs${whyNoNats}`, { timeout: slow }, () => {
  let cluster: HubCluster;
  let token: string;
  let id: string;
  /** Calls that came to the page, over all of its connections. */
  let calls = 0;
  const pages: RawPage[] = [];

  beforeAll(async () => {
    cluster = await HubCluster.start({ args: () => ['--notebook', 'colab', '--no-browser'] });
  }, slow);
  afterAll(async () => {
    for (const page of pages) page.socket.terminate();
    await cluster?.[Symbol.asyncDispose]();
  });

  const agentOf = (name: string): Promise<SendMessage> => {
    const hub = cluster.hub(name);
    return openLegacyAgent(hub, () => hub.ownerToken, `agent of ${name}`);
  };
  const call = async (agent: SendMessage, name: string, args: JsonObject = {}): Promise<string> => {
    const { result } = await agent('tools/call', { name, arguments: args });
    return JSON.stringify(result);
  };
  const dial = async (name: string): Promise<RawPage> => {
    const answer = ({ method }: JsonObject) =>
      method === 'tools/call' ? { result: { content: [{ type: 'text', text: `cells, the ${++calls}.` }] } } : undefined;
    const page = await RawPage.serve({ port: Number(new URL(cluster.hub(name).url).port), token, answer });
    pages.push(page);
    return page;
  };

  it('is one notebook for all of them, under one id', async () => {
    const [a, c] = [await agentOf('a'), await agentOf('c')];
    ({ token } = addressIn(await call(a, 'open_colab_browser_connection', { wait_seconds: 0 })));
    await dial('a');
    expect(await call(a, 'get_cells')).toContain('cells, the 1.');
    const listed = JSON.parse(JSON.parse(await call(a, 'list_notebooks')).content[0].text) as { notebooks: JsonObject[] };
    id = String(listed.notebooks.find(({ selected }) => selected === true)?.id);
    expect(id).toMatch(/^page-/);
    expect(await call(c, 'connect_notebook', { notebook: id })).toContain('connected');
    expect(await call(c, 'get_cells')).toContain('cells, the 2.');
  });

  it('goes on at another hub when its connection broke, and its first hub calls it there', { tags: ['P-565'] }, async () => {
    const [a, c] = [await agentOf('a'), await agentOf('c')];
    await call(c, 'connect_notebook', { notebook: id });
    pages[0]?.socket.terminate();
    await dial('b');
    expect(await call(c, 'get_cells')).toContain('cells, the 3.');
    expect(await call(a, 'get_cells')).toContain('cells, the 4.');
    expect(await call(await agentOf('b'), 'get_cells', { notebook: id })).toContain('cells, the 5.');
  });

  it('goes on at another hub when its own is killed, within its lease, and then when that is drained', async () => {
    const [a, c] = [await agentOf('a'), await agentOf('c')];
    await call(c, 'connect_notebook', { notebook: id });
    await cluster.kill('b');
    expect(await pages[1]?.closed).toBe(1006);
    await dial('a');
    expect(await call(c, 'get_cells')).toContain('cells, the 6.');
    expect(await call(a, 'get_cells')).toContain('cells, the 7.');
    const stopped = cluster.hub('a').stop('SIGTERM');
    expect(await pages[2]?.closed).toBe(1001);
    await dial('c');
    expect(await call(c, 'get_cells')).toContain('cells, the 8.');
    expect(await stopped).toBe(0);
    expect(calls).toBe(8);
  });
});
