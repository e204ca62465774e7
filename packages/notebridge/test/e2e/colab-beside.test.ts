// @module-tag P-324

import { existsSync } from 'node:fs';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { SharedHome } from '../support/broker.js';
import { addressIn, Program, type ProgramOptions } from '../support/program.js';
import { RawPage } from '../support/raw-page.js';

const slow = 180_000;
const openTool = 'open_colab_browser_connection';
const selectionTools = ['list_notebooks', 'connect_notebook', 'disconnect_notebook'];

/** Answers each call with its name and arguments, as the page of that name. */
const pageOf =
  (name: string) =>
  ({ method, params }: JsonObject): JsonObject | undefined => {
    const { name: tool, arguments: args } = (params ?? {}) as JsonObject;
    return method === 'tools/call'
      ? { result: { content: [{ type: 'text', text: `${name} ${String(tool)} ${JSON.stringify(args)}` }] } }
      : undefined;
  };

const textOf = async (agent: Program, name: string, args: JsonObject = {}): Promise<string> => {
  const { result } = (await agent.callTool(name, args)) as { result: { content: { text: string }[] } };
  return result.content.map(({ text }) => text).join('\n');
};
const read = async (agent: Program, name: string, args: JsonObject = {}): Promise<JsonObject> =>
  JSON.parse(await textOf(agent, name, args)) as JsonObject;
const toolsOf = async (agent: Program): Promise<{ name: string; inputSchema: { properties?: JsonObject } }[]> =>
  ((await agent.request('tools/list')).result as { tools: { name: string; inputSchema: JsonObject }[] }).tools;
const namesOf = async (agent: Program): Promise<string[]> => (await toolsOf(agent)).map(({ name }) => name);
const openIn = (home: SharedHome, options: ProgramOptions = {}): Promise<Program> =>
  Program.open({ ...options, env: home.env, cwd: home.folder });

describe.runIf(process.platform === 'linux')('an agent of Colab', () => {
  it('uses other notebooks beside its page, which is as it is alone', { timeout: slow }, async () => {
    await using home = new SharedHome();
    await using agent = await openIn(home);
    const before = await toolsOf(agent);
    expect(before.map(({ name }) => name)).toEqual(expect.arrayContaining([openTool, 'run_code_cell', ...selectionTools]));
    // Until it uses another one, no tool of the page takes anything new, and no other process is there.
    const ofPage = before.filter(({ name }) => !selectionTools.includes(name));
    for (const { inputSchema } of ofPage) expect(inputSchema.properties ?? {}).not.toHaveProperty('notebook');
    expect(home.broker).toBeUndefined();

    await using page = await RawPage.serve({ ...(await agent.address()), answer: pageOf('colab') });
    expect(await textOf(agent, 'get_cells', { x: 1 })).toBe('colab get_cells {"x":1}');
    const [own] = (await read(agent, 'list_notebooks')).notebooks as JsonObject[];
    expect(own).toMatchObject({ kind: 'colab', state: 'idle', connected: true, selected: true });
    expect(home.broker).toBeUndefined();

    const built = await read(agent, 'connect_notebook', { notebook: 'work.ipynb', create: true });
    expect(built).toMatchObject({ status: 'connected', kind: 'built-in' });
    expect(await read(agent, 'add_text_cell', { cellIndex: 0, content: 'in the file' })).toHaveProperty('newCellId');
    expect(existsSync(home.path('work.ipynb'))).toBe(true);
    const after = await toolsOf(agent);
    expect(after.map(({ name }) => name)).toEqual(expect.arrayContaining([openTool, 'get_notebook_info', ...selectionTools]));
    expect(after.find(({ name }) => name === 'get_cells')?.inputSchema.properties).toHaveProperty('notebook');
    // Each call reaches the one that it names; the open tool is that of the page, whatever is selected.
    expect(await textOf(agent, 'get_cells', { notebook: String(own?.id), y: 2 })).toBe('colab get_cells {"y":2}');
    expect(JSON.stringify(await read(agent, 'get_cells'))).toContain('in the file');
    expect(await agent.callTool(openTool)).toMatchObject({ result: { structuredContent: { result: true } } });
    expect(await read(agent, 'connect_notebook', { notebook: String(own?.id) })).toMatchObject({ status: 'connected', id: own?.id });
    expect(await textOf(agent, 'move_cell', { cellId: 'a', cellIndex: 1 })).toBe('colab move_cell {"cellId":"a","cellIndex":1}');
    expect(page.messages.filter(({ params }) => JSON.stringify(params ?? {}).includes('"notebook"'))).toEqual([]);
  });

  it('connects a second page of Colab, which the broker holds and which outlives it', { tags: ['deep'], timeout: slow }, async () => {
    await using home = new SharedHome();
    const url = 'https://colab.research.google.com/drive/1aZ';
    const openSecond = async (agent: Program): Promise<JsonObject> => agent.callTool(openTool, { wait_seconds: 0 });
    const first = await openIn(home);
    const own = await first.address();
    const waiting = first.callTool('connect_notebook', { notebook: url });
    // It is selected at once, and waits for its page.
    await first.notification('notifications/tools/list_changed');
    const second = addressIn(await openSecond(first));
    expect(second.token).not.toBe(own.token);
    expect(second.url).toContain('/drive/1aZ');
    await using page = await RawPage.serve({ ...second, answer: pageOf('second') });
    expect(JSON.stringify(await waiting)).toContain('connected');
    expect(await textOf(first, 'get_cells')).toBe('second get_cells {}');
    await first.close();
    await using next = await openIn(home);
    expect(await read(next, 'connect_notebook', { notebook: url })).toMatchObject({ status: 'connected', kind: 'colab' });
    expect(await textOf(next, 'get_cells')).toBe('second get_cells {}');
    expect(page.messages.filter(({ method }) => method === 'initialize')).toHaveLength(1);
  });

  it('an agent with --standalone or --list dynamic knows of its page alone', { tags: ['deep'], timeout: slow }, async () => {
    await using home = new SharedHome();
    for (const args of [['--standalone'], ['--list', 'dynamic']]) {
      await using agent = await openIn(home, { args });
      for (const name of selectionTools) expect(await namesOf(agent)).not.toContain(name);
      await using page = await RawPage.serve({ ...(await agent.address()), answer: pageOf('alone') });
      await agent.notification('notifications/tools/list_changed');
      for (const name of selectionTools) expect(await namesOf(agent)).not.toContain(name);
      expect(await textOf(agent, 'get_cells', { notebook: 'nb1' })).toBe('alone get_cells {"notebook":"nb1"}');
      await page.close();
    }
    expect(home.broker).toBeUndefined();
  });

  it('leaves a page’s own tool of such a name, or with an argument "notebook", to the page', { timeout: slow }, async () => {
    await using home = new SharedHome();
    await using agent = await openIn(home);
    const inputSchema = { type: 'object', properties: { notebook: { type: 'string' } } };
    const answer = (request: JsonObject): JsonObject | undefined =>
      request.method === 'tools/list'
        ? { result: { tools: ['copy_to', 'run_code_cell', 'list_notebooks'].map((name) => ({ name, inputSchema })) } }
        : pageOf('own')(request);
    await using _ = await RawPage.serve({ ...(await agent.address()), answer });
    expect(await textOf(agent, 'copy_to', { notebook: 'mine' })).toBe('own copy_to {"notebook":"mine"}');
    expect(await textOf(agent, 'list_notebooks')).toBe('own list_notebooks {}');
    expect((await namesOf(agent)).filter((name) => selectionTools.includes(name))).toEqual(['list_notebooks']);
  });
});
