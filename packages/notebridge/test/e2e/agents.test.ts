// @module-tag deep
// @module-tag P-056

import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { type Agent, agentKinds } from '../support/agents.js';
import { addressIn } from '../support/program.js';
import { type PageAnswer, RawPage } from '../support/raw-page.js';

const openTool = 'open_colab_browser_connection';
const pageTools = ['add_code_cell', 'add_text_cell', 'get_cells', 'run_code_cell', 'update_cell', 'move_cell', 'delete_cell'];
const selectionTools = ['list_notebooks', 'connect_notebook', 'disconnect_notebook'];
const notebookTools = [...pageTools, 'get_run', 'list_runs', 'interrupt_run', 'get_output', ...selectionTools];

/** One body for every agent: what differs between SDKs and protocol versions must not be seen here. */
describe.each(agentKinds)('an agent of the kind $name', ({ open }) => {
  it('lists and calls before a page, with one, and after its reload, without a restart', async () => {
    await using agent = await open();
    const changes = new Changes();
    await agent.onToolsChanged(() => changes.add());

    expect(namesOf(await agent.listTools())).toEqual([openTool, ...notebookTools]);
    expect(await agent.callTool('get_cells')).toMatchObject({ isError: true });
    const address = addressIn(await agent.callTool(openTool, { wait_seconds: 0 }));
    expect(address.url).toMatch(/^https:\/\/colab\.research\.google\.com\//);

    const opening = agent.callTool(openTool, { wait_seconds: 20 });
    const first = await RawPage.serve({ ...address, answer: echoAs('first') });
    expect(await opening).toMatchObject({ content: [{ type: 'text', text: 'true' }], structuredContent: { result: true } });
    expect(await textOf(agent, 'get_cells', { cellIndexStart: 1 })).toBe('first get_cells {"cellIndexStart":1}');
    // Whatever was sent before this answer has been dispatched: the connection was told, and told once.
    expect(changes.count).toBe(1);
    expect(namesOf(await agent.listTools())).toEqual([openTool, ...listedByPage]);

    await first.close();
    await changes.reach(2);
    const waiting = textOf(agent, 'get_cells', { cellIndexStart: 2 });
    await using _second = await RawPage.serve({ ...address, answer: echoAs('second') });
    expect(await waiting).toBe('second get_cells {"cellIndexStart":2}');
    expect(await textOf(agent, 'delete_cell', { cellId: 'x' })).toBe('second delete_cell {"cellId":"x"}');
    expect(changes.count).toBe(3);
  });

  it('is told the progress of a call, in order and before its answer', async () => {
    await using agent = await open();
    const all = new Changes();
    await using _page = await RawPage.serve({
      ...addressIn(await agent.callTool(openTool, { wait_seconds: 0 })),
      answer: async ({ method, params }, page) => {
        if (method !== 'tools/call') return undefined;
        const { progressToken } = (params as JsonObject)._meta as JsonObject;
        for (const progress of [1, 2]) {
          page.send({
            jsonrpc: '2.0',
            method: 'notifications/progress',
            params: { progressToken, progress, total: 2, message: `step ${progress}` },
          });
        }
        // SDK clients drop progress that comes together with the answer, so the answer waits until it was seen.
        await all.reach(2);
        return textResult('done');
      },
    });
    const seen: JsonObject[] = [];
    const onProgress = (progress: JsonObject): void => {
      seen.push(progress);
      all.add();
    };
    expect(await agent.callTool('run_code_cell', { cellId: 'a' }, { onProgress })).toMatchObject({ content: [{ text: 'done' }] });
    expect(seen).toMatchObject([
      { progress: 1, total: 2, message: 'step 1' },
      { progress: 2, total: 2, message: 'step 2' },
    ]);
  });

  it('cancels a call in the page, by the id that the page knows', async () => {
    await using agent = await open();
    const address = addressIn(await agent.callTool(openTool, { wait_seconds: 0 }));
    await using page = await RawPage.serve({ ...address, answer: neverAnswer('run_code_cell') });
    const controller = new AbortController();
    const other = agent.callTool('run_code_cell', { cellId: 'goes on' });
    other.catch(() => {});
    await page.message('tools/call');
    const call = agent.callTool('run_code_cell', { cellId: 'cancelled' }, { signal: controller.signal });
    const { id } = await page.message('tools/call', 1);
    controller.abort('changed my mind');
    await expect(call).rejects.toThrow();
    expect((await page.message('notifications/cancelled')).params).toMatchObject({ requestId: id });

    expect(await agent.callTool('get_cells')).toMatchObject({ content: [{ text: 'still there' }] });
    expect(page.messages.filter(({ method }) => method === 'notifications/cancelled')).toHaveLength(1);
  });

  it('reaches resources, prompts, completion and errors of the page', async () => {
    await using agent = await open();
    const answers: Record<string, JsonObject> = {
      'resources/list': { resources: [{ uri: 'cell://1', name: 'cell' }] },
      'resources/templates/list': { resourceTemplates: [{ uriTemplate: 'cell://{id}', name: 'cells' }] },
      'resources/read': { contents: [{ uri: 'cell://1', text: 'x = 1', mimeType: 'text/x-python' }] },
      'prompts/list': { prompts: [{ name: 'explain', arguments: [{ name: 'cell', required: true }] }] },
      'prompts/get': { messages: [{ role: 'user', content: { type: 'text', text: 'Explain x = 1' } }] },
      'completion/complete': { completion: { values: ['1', '2'], hasMore: false } },
    };
    await using _page = await RawPage.serve({
      ...addressIn(await agent.callTool(openTool, { wait_seconds: 0 })),
      answer: ({ method }) => {
        const result = answers[String(method)];
        if (method === 'tools/call') return { error: { code: -32602, message: 'of the page', data: { x: 1 } } };
        return result === undefined ? undefined : { result };
      },
    });
    for (const [method, result] of Object.entries(answers)) {
      const params = {
        uri: 'cell://1',
        name: 'explain',
        ref: { type: 'ref/prompt', name: 'explain' },
        argument: { name: 'cell', value: '' },
      };
      expect(await agent.request(method, params)).toMatchObject(result);
    }
    await expect(agent.callTool('get_cells')).rejects.toThrow(/of the page/);
  });

  it('sees the reference behaviour with --list dynamic: the notebook comes and goes with its page', async () => {
    await using agent = await open(['--list', 'dynamic']);
    const changes = new Changes();
    await agent.onToolsChanged(() => changes.add());
    expect(namesOf(await agent.listTools())).toEqual([openTool]);
    await expect(agent.callTool('get_cells')).rejects.toThrow(/Unknown tool/);
    const page = await RawPage.serve({
      ...addressIn(await agent.callTool(openTool, { wait_seconds: 0 })),
      answer: echoAs('first'),
    });
    await changes.reach(1);
    expect(namesOf(await agent.listTools())).toEqual([openTool, ...listedByPage]);
    await page.close();
    await changes.reach(2);
    expect(namesOf(await agent.listTools())).toEqual([openTool]);
    await expect(agent.callTool('get_cells')).rejects.toThrow(/Unknown tool/);
    expect(changes.count).toBe(2);
  });

  it('leaves no process behind when it closes', async () => {
    const agent = await open();
    expect(isRunning(agent.pid)).toBe(true);
    await agent.close();
    expect(isRunning(agent.pid)).toBe(false);
  });
});

/** Counts, and can be waited for. */
class Changes {
  count = 0;
  readonly #waiting = new Set<{ wanted: number; resolve: () => void }>();

  add(): void {
    this.count++;
    for (const { wanted, resolve } of this.#waiting) if (this.count >= wanted) resolve();
  }

  reach(wanted: number): Promise<void> {
    if (this.count >= wanted) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.add({ wanted, resolve }));
  }
}

function namesOf(tools: JsonObject[]): unknown[] {
  return tools.map(({ name }) => name);
}

async function textOf(agent: Agent, name: string, args: JsonObject): Promise<unknown> {
  const { content } = await agent.callTool(name, args);
  return (content as JsonObject[])[0]?.text;
}

function textResult(text: string): JsonObject {
  return { result: { content: [{ type: 'text', text }] } };
}

/** A page with one tool that answers every call with who it is and what it was asked. */
const listedByPage = ['of_the_page', 'get_cells', 'delete_cell'];

function echoAs(who: string): (request: JsonObject) => PageAnswer {
  return ({ method, params }) => {
    const { name, arguments: args } = (params ?? {}) as JsonObject;
    if (method === 'tools/list')
      return { result: { tools: listedByPage.map((tool) => ({ name: tool, inputSchema: { type: 'object' } })) } };
    return method === 'tools/call' ? textResult(`${who} ${name} ${JSON.stringify(args)}`) : undefined;
  };
}

function neverAnswer(tool: string): (request: JsonObject) => PageAnswer {
  return ({ method, params }) => (method === 'tools/call' && (params as JsonObject).name !== tool ? textResult('still there') : undefined);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
