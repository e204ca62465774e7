// @module-tag deep

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createNotebookHost } from '../../src/host/notebook-host.js';
import { LabNotebook } from '../../src/lab/lab-notebook.js';
import type { ToolContext, ToolResult } from '../../src/tools/tool.js';
import { TinyKernel } from '../fixtures/tiny-kernel.js';
import { temporaryFolder } from '../host/support/folder.js';
import { installTimeoutMs, TestLab } from '../lab/support/jupyter.js';
import { labAlone } from '../lab/support/lab-alone.js';
import { preparePython, pythonOpens } from '../support/nbformat.js';
import { notebooksToEdit } from './support/notebooks-to-edit.js';
import { type EditedNotebook, editAndTakeBack } from './support/random-edits.js';

const notebooks = await notebooksToEdit();
const timeout = 60_000 + notebooks.length * 20_000;
const editsEach = 10;
let lab: TestLab;

beforeAll(async () => {
  await preparePython();
  lab = await TestLab.start({ python: labAlone });
}, installTimeoutMs);
afterAll(() => lab?.close());

interface Place {
  /** Writes the file and opens it. */
  open(bytes: Uint8Array, index: number): Promise<EditedNotebook & AsyncDisposable>;
  /** Whether Jupyter opens what was just written there. */
  isOpenedByJupyter(bytes: Uint8Array, index: number): Promise<boolean>;
  /** Whether a cell of this notebook is run. */
  runs(index: number): boolean;
}

/** What is wrong with each notebook: what Jupyter does not open either is not counted. */
async function faultsOfAll({ open, isOpenedByJupyter, runs }: Place): Promise<string[]> {
  const faults: string[] = [];
  for (const [index, { name, read }] of notebooks.entries()) {
    const bytes = await read();
    const fault = (error: unknown) => faults.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    const opened = await open(bytes, index).catch(async (error: unknown) => {
      if (await isOpenedByJupyter(bytes, index)) fault(error);
    });
    if (!opened) continue;
    await using notebook = opened;
    try {
      const { file_note: note = '' } = await notebook.call('get_notebook_info');
      // With its first change it is written as one of nbformat 4.
      if (note.includes('shown converted')) await notebook.call('add_text_cell', { cellIndex: 0, content: 'first' });
      await editAndTakeBack(notebook, { seed: index, count: editsEach, runs: runs(index) });
    } catch (error) {
      fault(error);
    }
  }
  return faults;
}

function caller(callTool: (name: string, args: object, context: ToolContext) => Promise<ToolResult>): EditedNotebook['call'] {
  return async (name, args = {}) => {
    const { content, isError } = await callTool(name, args, { agent: 'Bot' });
    const [first] = content;
    const text = first?.type === 'text' ? first.text : '{}';
    if (isError && name !== 'run_code_cell') throw new Error(text);
    return JSON.parse(text);
  };
}

it('in the built-in notebook any notebook changes only where it is edited, and is what it was when all is taken back', {
  timeout,
  tags: ['P-652', 'P-653'],
}, async () => {
  const folder = await temporaryFolder();
  const faults = await faultsOfAll({
    async open(bytes, index) {
      const file = join(folder, `${index}.ipynb`);
      await writeFile(file, bytes);
      const host = createNotebookHost({ file, kernel: new TinyKernel(), logger: silentLogger });
      await host.start();
      return {
        document: host.session.document,
        changesTypes: true,
        call: caller((...call) => host.callTool(...call)),
        async text() {
          await host.save();
          return await readFile(file, 'utf8');
        },
        [Symbol.asyncDispose]: () => host.close(),
      };
    },
    isOpenedByJupyter: async (bytes) => (await pythonOpens([new TextDecoder().decode(bytes)]))[0] === true,
    runs: () => true,
  });
  expect(faults).toEqual([]);
});

it('in a JupyterLab without shared documents too', { timeout, tags: ['P-656'] }, async () => {
  // The server looks at whole folders.
  const pathOf = (index: number) => `${Math.floor(index / 400)}/${Math.floor(index / 20)}/${index}.ipynb`;
  const faults = await faultsOfAll({
    async open(bytes, index) {
      const path = pathOf(index);
      const file = join(lab.folder, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, bytes);
      const notebook = await LabNotebook.open({ server: lab.server, path });
      return {
        document: notebook.session.document,
        changesTypes: false,
        call: caller((...call) => notebook.callTool(...call)),
        text: () => readFile(file, 'utf8'),
        [Symbol.asyncDispose]: () => notebook.close(),
      };
    },
    isOpenedByJupyter: async (_, index) =>
      (await lab.server.ask(`api/contents/${pathOf(index)}`, { query: { type: 'notebook' } })).status === 200,
    // Each run is a kernel of its own.
    runs: (index) => index % 50 === 0,
  });
  expect(faults).toEqual([]);
});
