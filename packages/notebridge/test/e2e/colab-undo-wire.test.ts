// @module-tag deep

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { createKernel } from '../fixtures/colab-page/kernel.js';
import { createNotebook } from '../fixtures/colab-page/notebook.js';
import { runTool, tools } from '../fixtures/colab-page/tools.js';
import { Program } from '../support/program.js';
import { type PageAnswer, RawPage } from '../support/raw-page.js';

type Answer = (request: JsonObject, page: RawPage) => PageAnswer | Promise<PageAnswer>;

const undoTool = 'undo_last_change';

/** A program with a page whose frames a test sees: the tools of the Colab stand-in, unless the test answers itself. */
class Scene implements AsyncDisposable {
  readonly notebook = createNotebook();
  readonly #kernel = createKernel();
  program!: Program;
  page!: RawPage;
  /** What the page lists. */
  tools: unknown[] = [...tools];

  static async open(answer: (scene: Scene) => Answer = () => () => undefined, args: string[] = []): Promise<Scene> {
    const scene = new Scene();
    scene.program = await Program.open({ args });
    const own = answer(scene);
    scene.page = await RawPage.serve({
      ...(await scene.program.address()),
      answer: async (request, page) => (await own(request, page)) ?? scene.#answer(request),
    });
    await scene.program.notification('notifications/tools/list_changed');
    return scene;
  }

  /** The params of every tool call that the page got. */
  get calls(): JsonObject[] {
    return this.page.messages.filter(({ method }) => method === 'tools/call').map(({ params }) => params as JsonObject);
  }

  get callNames(): unknown[] {
    return this.calls.map(({ name }) => name);
  }

  addCell(text: string): string {
    return this.notebook.addCell(99_999, { cellType: 'code', text });
  }

  async #answer({ method, params }: JsonObject): Promise<PageAnswer> {
    if (method === 'tools/list') return { result: { tools: this.tools } };
    if (method !== 'tools/call') return undefined;
    const { name, arguments: args } = params as { name: string; arguments: JsonObject };
    const target = { notebook: this.notebook, kernel: this.#kernel };
    const value = await runTool(target, { name, args }, { signal: new AbortController().signal, onProgress: () => {} });
    return { result: { content: [{ type: 'text', text: JSON.stringify(value) }] } };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.close();
    await this.program.close();
  }
}

describe("the agent's own calls", () => {
  it('pass with arguments, result and order unchanged; only reads without progress stand between', { tags: ['P-051'] }, async () => {
    const result = '{"content":[{"type":"text","text":"{\\"newCellId\\":\\"new\\"}","x":1.0}],"x-top":12345678901234567890}';
    await using scene = await Scene.open(
      () =>
        ({ method, params }) =>
          method === 'tools/call' && (params as JsonObject).name !== 'get_cells' ? `"result":${result}` : undefined,
    );
    // This page does nothing of what it is asked for: so each call has a cell of its own.
    const [updated, moved, deleted, odd] = ['a', 'b', 'c', 'd'].map((text) => scene.addCell(text));
    await scene.program.callTool('get_cells');
    const sent: JsonObject[] = [
      { name: 'update_cell', arguments: { cellId: updated, content: 'b' }, 'x-key': [null] },
      { name: 'move_cell', arguments: { cellId: moved, cellIndex: 0 } },
      { name: 'delete_cell', arguments: { cellId: deleted } },
      { name: 'add_code_cell', arguments: { cellIndex: 0, language: 'python', code: 'c' }, _meta: { 'x/y': 1.5 } },
      { name: 'add_text_cell', arguments: { cellIndex: 0, content: 'd' } },
      { name: 'update_cell', arguments: { cellId: odd, content: 'b', extra: true } },
    ];
    const answers = await Promise.all(sent.map((params) => scene.program.request('tools/call', params)));
    for (const answer of answers) expect(answer.result).toEqual(JSON.parse(result));
    expect(scene.calls.filter(({ name }) => name !== 'get_cells')).toEqual(sent);
    const [, ...reads] = scene.calls.filter(({ name }) => name === 'get_cells');
    expect(reads).toHaveLength(3);
    for (const read of reads) expect(Object.keys(read)).toEqual(['name', 'arguments']);
  });

  it('get their own progress, once and under their token', async () => {
    await using scene = await Scene.open(() => ({ method, params }, page) => {
      const { name, _meta: meta } = (params ?? {}) as { name?: string; _meta?: { progressToken?: unknown } };
      if (method === 'tools/call') {
        const progress = { progressToken: meta?.progressToken ?? 1, progress: 1, message: name };
        page.send({ jsonrpc: '2.0', method: 'notifications/progress', params: progress });
      }
      return undefined;
    });
    const cellId = scene.addCell('a');
    await scene.program.callTool('get_cells');
    await scene.program.callTool('update_cell', { cellId, content: 'b' }, { progressToken: 'mine' });
    expect(scene.callNames).toEqual(['get_cells', 'get_cells', 'update_cell']);
    expect(scene.program.notifications.filter(({ method }) => method === 'notifications/progress')).toMatchObject([
      { params: { progressToken: 'mine', message: 'update_cell' } },
    ]);
  });

  it('go ahead when the page does not show its cells, and the log says so; but none that replaces what is not shown', {
    tags: ['P-635'],
  }, async () => {
    await using scene = await Scene.open(() => async ({ method, params }) => {
      if (method !== 'tools/call' || (params as JsonObject).name !== 'get_cells') return undefined;
      return new Promise<undefined>(() => {});
    });
    const cellId = scene.addCell('a');
    expect(await scene.program.callTool('move_cell', { cellId, cellIndex: 0 })).toMatchObject({ result: { content: [{ text: '{}' }] } });
    expect(await scene.program.callTool('update_cell', { cellId, content: 'b' })).toMatchObject({
      result: { isError: true, content: [{ text: expect.stringContaining('Nothing was changed') }] },
    });
    expect(scene.notebook.findCell(cellId).source).toEqual(['a']);
    await scene.program.until(() => scene.program.stderr.includes('A change cannot be undone'));
    // The page hears that nobody waits for the cells any more.
    expect(await scene.page.message('notifications/cancelled')).toHaveProperty('params.requestId');
    expect(await scene.program.callTool(undoTool)).toMatchObject({ result: { _meta: { 'notebridge/error_code': 'nothing_to_undo' } } });
  });

  it.each([
    ['an error', { error: { code: -32000, message: 'no' } }],
    ['a failed tool', { result: { content: [{ type: 'text', text: 'no' }], isError: true } }],
    ['no cells', { result: { content: [{ type: 'text', text: '{"cells":7}' }] } }],
    ['cells without ids', { result: { content: [{ type: 'text', text: '{"cells":[{"cell_type":"code","source":"a"}]}' }] } }],
    ['nothing', { result: {} }],
  ])('go ahead when get_cells answers %s, but none that replaces or removes what is not shown', async (_, broken) => {
    await using scene = await Scene.open(() => ({ method, params }) => {
      return method === 'tools/call' && (params as JsonObject).name === 'get_cells' ? broken : undefined;
    });
    const cellId = scene.addCell('a');
    expect(await scene.program.callTool('move_cell', { cellId, cellIndex: 0 })).toMatchObject({ result: { content: [{ text: '{}' }] } });
    expect(await scene.program.callTool('delete_cell', { cellId })).toMatchObject({
      result: { isError: true, content: [{ text: expect.stringContaining('Nothing was changed') }] },
    });
    expect(scene.notebook.cells).toHaveLength(1);
    await scene.program.until(() => scene.program.stderr.includes('A change cannot be undone'));
  });

  it('are not sent at all when they are cancelled while their cell is read', async () => {
    await using scene = await Scene.open(() => ({ method, params }) => {
      return method === 'tools/call' && (params as JsonObject).name === 'get_cells' ? new Promise<undefined>(() => {}) : undefined;
    });
    const cellId = scene.addCell('a');
    scene.program.write(
      JSON.stringify({ jsonrpc: '2.0', id: 'c', method: 'tools/call', params: { name: 'delete_cell', arguments: { cellId } } }),
    );
    await scene.page.until((messages) => messages.some(({ method }) => method === 'tools/call'));
    scene.program.notify('notifications/cancelled', { requestId: 'c' });
    await scene.page.message('notifications/cancelled');
    await scene.program.callTool('add_text_cell', { cellIndex: 0, content: 'x' });
    expect(scene.callNames).toEqual(['get_cells', 'add_text_cell']);
    expect(scene.program.stderr).not.toContain('cannot be undone');
  });

  it('are told as ever when the page goes in the middle', async () => {
    await using scene = await Scene.open(() => ({ method, params }, page) => {
      if (method === 'tools/call' && (params as JsonObject).name === 'update_cell') page.socket.terminate();
      return undefined;
    });
    const cellId = scene.addCell('a');
    await scene.program.callTool('get_cells');
    expect(await scene.program.callTool('update_cell', { cellId, content: 'b' })).toMatchObject({
      result: { isError: true, _meta: { 'notebridge/error_code': 'page_gone' } },
    });
  });
});

describe('what is read', () => {
  it('is the whole notebook once, and then the neighbours of a cell whose place is known', async () => {
    await using scene = await Scene.open();
    const ids = Array.from({ length: 50 }, (_, index) => scene.addCell(`cell ${index}`));
    await scene.program.callTool('get_cells');
    await scene.program.callTool('update_cell', { cellId: ids[20], content: 'x' });
    await scene.program.callTool('update_cell', { cellId: ids[30], content: 'y' });
    scene.notebook.moveCell(ids[10] ?? '', 49);
    await scene.program.callTool('delete_cell', { cellId: ids[10] });
    const [, ...reads] = scene.calls.filter(({ name }) => name === 'get_cells').map(({ arguments: args }) => args);
    expect(reads).toEqual([
      { includeOutputs: false },
      { cellIndexStart: 26, cellIndexEnd: 34, includeOutputs: false },
      { cellIndexStart: 6, cellIndexEnd: 14, includeOutputs: false },
      { includeOutputs: false },
    ]);
    await scene.program.callTool(undoTool);
    expect(scene.notebook.cells.at(-1)?.source).toEqual(['cell 10']);
  });

  it('comes after the answer to a change that is still under way', async () => {
    let answerFirst = (): void => {};
    const held = new Promise<void>((resolve) => {
      answerFirst = resolve;
    });
    await using scene = await Scene.open(() => async ({ method, params }) => {
      const { name, arguments: args } = (params ?? {}) as { name?: string; arguments?: JsonObject };
      if (method === 'tools/call' && name === 'update_cell' && args?.content === 'one') await held;
      return undefined;
    });
    const cellId = scene.addCell('a');
    await scene.program.callTool('get_cells');
    const first = scene.program.callTool('update_cell', { cellId, content: 'one' });
    const second = scene.program.callTool('update_cell', { cellId, content: 'two' });
    await scene.page.until((messages) => messages.some(({ params }) => (params as JsonObject)?.name === 'update_cell'));
    expect(scene.callNames).toEqual(['get_cells', 'get_cells', 'update_cell']);
    answerFirst();
    await Promise.all([first, second]);
    expect(scene.callNames).toEqual(['get_cells', 'get_cells', 'update_cell', 'get_cells', 'update_cell']);
    await scene.program.callTool(undoTool);
    expect(scene.notebook.findCell(cellId).source).toEqual(['one']);
  });
});

describe('a page is left alone', () => {
  const renamed = (name: string, inputSchema: JsonObject): unknown[] =>
    tools.map((tool) => (tool.name === name ? { name, inputSchema } : tool));
  const textual = {
    type: 'object',
    properties: { cellId: { type: 'string' }, content: { type: 'array' } },
    required: ['cellId', 'content'],
  };

  it.each([
    ['has another update_cell', renamed('update_cell', textual)],
    ['has another get_cells', renamed('get_cells', { type: 'object', properties: { range: { type: 'string' } } })],
    ['has no get_cells', tools.filter(({ name }) => name !== 'get_cells')],
  ])('no page is touched that %s', async (_, listed) => {
    await using scene = await Scene.open();
    scene.tools = listed;
    const cellId = scene.addCell('a');
    for (const content of ['b', 'c']) await scene.program.callTool('update_cell', { cellId, content });
    expect(scene.callNames).toEqual(['update_cell', 'update_cell']);
    // Once by the journal, once to know which tools may be called; never for each call.
    expect(scene.page.messages.filter(({ method }) => method === 'tools/list')).toHaveLength(2);
  });

  it('no page is touched in whose update_cell there is a revision: it checks that itself', async () => {
    await using scene = await Scene.open();
    const properties = { cellId: { type: 'string' }, content: { type: 'string' }, expected_rev: { type: 'integer' } };
    scene.tools = renamed('update_cell', { type: 'object', properties, required: ['cellId', 'content'] });
    const cellId = scene.addCell('a');
    await scene.program.callTool('update_cell', { cellId, content: 'b' });
    expect(scene.calls).toMatchObject([{ name: 'update_cell', arguments: { cellId, content: 'b', expected_rev: 0 } }]);
  });

  it('no page is journalled that has an undo of its own; what would be replaced is read all the same', async () => {
    await using scene = await Scene.open();
    scene.tools = [...tools, { name: undoTool, inputSchema: { type: 'object' } }];
    const cellId = scene.addCell('a');
    await scene.program.callTool('get_cells');
    for (const content of ['b', 'c']) await scene.program.callTool('update_cell', { cellId, content });
    expect(scene.callNames).toEqual(['get_cells', 'get_cells', 'update_cell', 'get_cells', 'update_cell']);
    expect(scene.notebook.findCell(cellId).source).toEqual(['c']);
  });

  it('no page is touched that does not say what it has', async () => {
    await using scene = await Scene.open(
      () =>
        ({ method }) =>
          method === 'tools/list' ? new Promise<undefined>(() => {}) : undefined,
    );
    const cellId = scene.addCell('a');
    for (const content of ['b', 'c']) await scene.program.callTool('update_cell', { cellId, content });
    expect(scene.callNames).toEqual(['update_cell', 'update_cell']);
    await scene.program.until(() => scene.program.stderr.includes('A change cannot be undone'));
    expect(scene.program.stderr.match(/A change cannot be undone/g)).toHaveLength(1);
    expect(await scene.program.callTool(undoTool)).toMatchObject({ result: { _meta: { 'notebridge/error_code': 'nothing_to_undo' } } });
  });

  it('no page is touched that answers its own undo', async () => {
    const own = { content: [{ type: 'text', text: 'by the page' }] };
    await using scene = await Scene.open(() => ({ method, params }) => {
      return method === 'tools/call' && (params as JsonObject).name === undoTool ? { result: own } : undefined;
    });
    await scene.program.callTool('add_text_cell', { cellIndex: 0, content: 'x' });
    expect(await toolNames(scene.program)).toContain(undoTool);
    // The page grows one: ours steps aside.
    scene.tools = [...tools, { name: undoTool, description: 'mine', inputSchema: { type: 'object' } }];
    scene.page.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    expect(await scene.program.callTool(undoTool, { steps: 3 })).toMatchObject({ result: own });
    expect((await toolNames(scene.program)).filter((name) => name === undoTool)).toHaveLength(1);
  });

  it.each([
    ['--no-journal', ['--no-journal']],
    ['--list dynamic', ['--list', 'dynamic']],
  ])('no page is touched with %s', async (_, args) => {
    await using scene = await Scene.open(undefined, args);
    await expectUntouched(scene);
  });

  it('no page is touched with "journal": false in the config', { tags: ['P-051'] }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'notebridge-undo-'));
    const config = join(folder, 'mcp.json');
    writeFileSync(config, '{ "notebridge": { "journal": false } }');
    await using scene = await Scene.open(undefined, ['--config', config]);
    rmSync(folder, { recursive: true });
    await expectUntouched(scene);
  });

  async function expectUntouched(scene: Scene): Promise<void> {
    const before = await toolNames(scene.program);
    await scene.program.callTool('update_cell', { cellId: scene.addCell('a'), content: 'b' });
    expect(scene.callNames).toEqual(['update_cell']);
    expect(await toolNames(scene.program)).toEqual(before);
  }
});

async function toolNames(program: Program): Promise<string[]> {
  const { result } = await program.request('tools/list');
  return (result as { tools: { name: string }[] }).tools.map(({ name }) => name);
}
