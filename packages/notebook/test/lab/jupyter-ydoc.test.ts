// @module-tag deep

import { YNotebook } from '@jupyter/ydoc';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { WebsocketProvider } from 'y-websocket';
import { Agent } from './support/agent.js';
import { codeCell, installTimeoutMs, TestLab, textCell } from './support/jupyter.js';
import { until } from './support/patient-until.js';

let lab: TestLab;

beforeAll(async () => {
  lab = await TestLab.start();
}, installTimeoutMs);
afterAll(() => lab?.close());

/** Jupyter's own model of a shared notebook, in the same room. */
async function openYNotebook(path: string): Promise<YNotebook> {
  const session = await lab.server.request(`api/collaboration/session/${path}`, {
    method: 'PUT',
    body: { format: 'json', type: 'notebook' },
  });
  const { fileId, sessionId } = session as { fileId: string; sessionId: string };
  const notebook = new YNotebook();
  const rooms = `${lab.baseUrl.replace('http', 'ws')}api/collaboration/room`;
  const provider = new WebsocketProvider(rooms, `json:notebook:${fileId}`, notebook.ydoc, {
    WebSocketPolyfill: WebSocket as never,
    disableBc: true,
    params: { sessionId, token: lab.token },
  });
  onTestFinished(() => {
    provider.destroy();
    notebook.dispose();
  });
  await new Promise<void>((resolve) => provider.once('sync', () => resolve()));
  return notebook;
}

it('Jupyter’s own library reads what we write, and the other way round', { timeout: 400_000 }, async () => {
  await lab.write('model.ipynb', [codeCell('one', 'a = 1'), textCell('two', '# Text')]);
  const agent = await Agent.open(lab.server, 'model.ipynb');
  onTestFinished(() => agent.close());
  const theirs = await openYNotebook('model.ipynb');
  const { value } = await agent.call('run_code', { code: 'print("out")\n{"a": 1}', cellIndex: 1 });
  await agent.call('move_cell', { cellId: 'two', cellIndex: 0 });
  await until(() => theirs.cells.map(({ id }) => id).join() === `two,one,${value.newCellId}`);
  expect(theirs.getCell(2)?.toJSON()).toMatchObject({
    cell_type: 'code',
    execution_count: 1,
    outputs: [
      { output_type: 'stream', name: 'stdout', text: 'out\n' },
      { output_type: 'execute_result', data: { 'text/plain': "{'a': 1}" }, execution_count: 1 },
    ],
  });
  // Its undo is that of Lab: it takes back its own.
  theirs.getCell(0)?.setSource('# Theirs');
  theirs.addCell({ cell_type: 'raw', source: 'raw' } as never);
  await until(async () => (await agent.cells()).map(({ source }) => source).join() === '# Theirs,a = 1,print("out")\n{"a": 1},raw');
  await agent.call('update_cell', { cellId: 'one', content: 'a = "ours"' });
  await until(() => theirs.getCell(1)?.getSource() === 'a = "ours"');
  while (theirs.undo());
  expect(theirs.cells.map((cell) => cell.getSource())).toEqual(['# Text', 'a = "ours"', 'print("out")\n{"a": 1}']);
  await until(async () => (await agent.cells()).map(({ source }) => source).join() === '# Text,a = "ours",print("out")\n{"a": 1}');
  expect(agent.notebook.session.document.cells.map(({ id }) => id)).toEqual(theirs.cells.map(({ id }) => id));
});
