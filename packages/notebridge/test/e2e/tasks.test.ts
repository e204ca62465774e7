// @module-tag deep

import { rmSync } from 'node:fs';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CallToolResultSchema, TaskStatusNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeCell, installTimeoutMs, TestLab } from '../../../notebook/test/lab/support/jupyter.js';
import { createNodeColabPage } from '../fixtures/colab-page/node-page.js';
import { envelope } from '../support/agents.js';
import { addressIn, createHome, Program, programFile } from '../support/program.js';

const extension = 'io.modelcontextprotocol/tasks';
const declared = { ...envelope, 'io.modelcontextprotocol/clientCapabilities': { extensions: { [extension]: {} } } };
const timeout = 120_000;
const counting = 'import time\nfor i in range(3):\n    print(i)\n    time.sleep(0.3)\n7';
const endless = 'import time\nfor i in range(100000):\n    time.sleep(0.01)';

let lab: TestLab;
beforeAll(async () => {
  lab = await TestLab.start();
}, installTimeoutMs);
afterAll(() => lab?.close());

type CallTool = (name: string, args?: JsonObject) => Promise<JsonObject>;

/**
 * Each kind of notebook: how it is asked for, and what its page does once the agent is there. Each test has a file of its own: JupyterLab
 * keeps the room of a file that was open, and brings what is written there beside it into the document of whoever opens it next.
 */
const kinds = [
  {
    name: 'the Colab page',
    open: async () => ({ args: [] as string[], env: {} }),
    show: async (callTool: CallTool) => {
      const page = createNodeColabPage(addressIn(await callTool('open_colab_browser_connection', { wait_seconds: 0 })));
      await page.whenState('connected');
      // Its socket is open; until it has shaken hands, calls are told that there is no page.
      await expect.poll(async () => (await callTool('get_cells')).isError === true).toBe(false);
      return () => page.close();
    },
  },
  { name: 'the built-in notebook', open: async () => ({ args: ['--notebook', 'local'], env: {} }), show: async () => () => {} },
  {
    name: 'JupyterLab',
    open: async (file: string) => {
      await lab.write(file, [codeCell('one', '1')]);
      return { args: ['--notebook', 'jupyter'], env: { JUPYTER_RUNTIME_DIR: lab.runtimeDir } };
    },
    show: async (callTool: CallTool, path: string) => {
      await callTool('connect_notebook', { notebook: path });
      return () => {};
    },
  },
];

const jsonOf = (result: JsonObject): JsonObject => JSON.parse((result.content as { text: string }[])[0]?.text ?? '{}') as JsonObject;

describe.each(kinds)('tasks over the runs of $name', ({ open, show }) => {
  it('an agent of 2025-11-25 has tasks, with the official SDK', { timeout, tags: ['P-307'] }, async () => {
    const { home, env } = createHome();
    const { args, env: more } = await open('of-2025.ipynb');
    const client = new ClientV1({ name: 'agent', version: '1' });
    await client.connect(
      new StdioV1({ command: process.execPath, args: [programFile, ...args], env: { ...env, ...more }, stderr: 'ignore' }),
    );
    const callTool: CallTool = async (name, toolArgs = {}) => (await client.callTool({ name, arguments: toolArgs })) as JsonObject;
    const hide = await show(callTool, 'of-2025.ipynb');
    try {
      expect(client.getServerCapabilities()?.tasks).toEqual({ list: {}, cancel: {}, requests: { tools: { call: {} } } });
      const { tools } = await client.listTools();
      expect(tools.find(({ name }) => name === 'run_code_cell')?.execution).toEqual({ taskSupport: 'optional' });
      const told: string[] = [];
      client.setNotificationHandler(TaskStatusNotificationSchema, ({ params }) => void told.push(`${params.taskId} ${params.status}`));
      const start = async (code: string) => {
        const { newCellId: cellId } = jsonOf(await callTool('add_code_cell', { cellIndex: 0, language: 'python', code }));
        return client.experimental.tasks.callToolStream({ name: 'run_code_cell', arguments: { cellId } }, CallToolResultSchema, {
          task: {},
        });
      };
      const seen: string[] = [];
      let result: JsonObject = {};
      for await (const message of await start(counting)) {
        seen.push(message.type);
        if (message.type === 'result') result = message.result as JsonObject;
      }
      expect(seen).toEqual(expect.arrayContaining(['taskCreated', 'taskStatus', 'result']));
      const { outputs } = jsonOf(result) as { outputs: { text?: string[] }[] };
      expect(outputs.flatMap(({ text = [] }) => text).join('')).toBe('0\n1\n2\n');

      const created = (await (await start(endless)).next()).value as { type: string; task: { taskId: string } };
      const { taskId } = created.task;
      const newest = async () => (jsonOf(await callTool('list_runs')).runs as { status: string }[])[0]?.status;
      await expect.poll(newest, { timeout: 45_000 }).toBe('running');
      expect(await client.experimental.tasks.getTask(taskId)).toMatchObject({ status: 'working' });
      expect(await client.experimental.tasks.cancelTask(taskId)).toMatchObject({ status: 'cancelled' });
      expect((await client.experimental.tasks.listTasks()).tasks.map(({ status }) => status)).toEqual(['cancelled', 'completed']);
      await expect.poll(() => told.includes(`${taskId} cancelled`)).toBe(true);
      await expect(client.experimental.tasks.cancelTask(taskId)).rejects.toMatchObject({ code: -32602 });
      // The cell itself has stopped: it is a run like any other.
      await expect.poll(newest, { timeout: 45_000 }).toBe('interrupted');
    } finally {
      hide();
      await client.close();
      rmSync(home, { recursive: true, force: true });
    }
  });

  // The official SDK rejects a result of the type `task` before anybody sees it, so this agent is written by hand.
  it('the extension of 2026-07-28 has tasks, with status notifications', { timeout, tags: ['P-308'] }, async () => {
    const { args, env } = await open('of-2026.ipynb');
    await using program = new Program({ args, env });
    const request = async (method: string, params: JsonObject = {}): Promise<JsonObject> =>
      (await program.request(method, { ...params, _meta: declared })).result as JsonObject;
    const callTool: CallTool = (name, toolArgs = {}) => request('tools/call', { name, arguments: toolArgs });
    expect(await request('server/discover')).toMatchObject({ capabilities: { extensions: { [extension]: {} } } });
    await request('tools/list');
    const hide = await show(callTool, 'of-2026.ipynb');
    const start = async (code: string) => {
      const { newCellId: cellId } = jsonOf(await callTool('add_code_cell', { cellIndex: 0, language: 'python', code }));
      return callTool('run_code_cell', { cellId, wait_seconds: 0 });
    };
    // It runs until the agent listens, on a busy machine too.
    const task = await start(counting.replace('0.3', '1.5'));
    expect(task).toMatchObject({ resultType: 'task', taskId: expect.any(String), status: 'working', pollIntervalMs: expect.any(Number) });
    const { taskId } = task;
    program.request('subscriptions/listen', { notifications: { taskIds: [taskId, 'of nobody'] }, _meta: declared }).catch(() => {});
    const acknowledged = await program.notification('notifications/subscriptions/acknowledged');
    expect(acknowledged.params).toMatchObject({ notifications: { taskIds: [taskId] } });
    await program.until(() => program.countOf('notifications/tasks') > 0, 60_000);
    const { params } = (await program.notification('notifications/tasks')) as { params: JsonObject };
    expect(params).toMatchObject({ taskId, status: 'completed' });
    expect(await request('tasks/get', { taskId })).toMatchObject({
      resultType: 'complete',
      status: 'completed',
      result: params.result as JsonObject,
    });
    const { outputs } = jsonOf(params.result as JsonObject) as { outputs: { text?: string[] }[] };
    expect(outputs.flatMap(({ text = [] }) => text).join('')).toBe('0\n1\n2\n');
    const long = await start(endless);
    const newest = async () => (jsonOf(await callTool('list_runs')).runs as { status: string }[])[0]?.status;
    await expect.poll(newest, { timeout: 45_000 }).toBe('running');
    expect(await request('tasks/cancel', { taskId: long.taskId })).toMatchObject({ resultType: 'complete' });
    expect(await request('tasks/get', { taskId: long.taskId })).toMatchObject({ status: 'cancelled' });
    await expect.poll(newest, { timeout: 45_000 }).toBe('interrupted');
    hide();
  });
});
