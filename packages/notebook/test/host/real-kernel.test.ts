// @module-tag deep

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNodeKernel } from '../../src/kernel/node-kernel.js';
import { parseNotebook } from '../../src/model/nbformat.js';
import { type BuiltKernel, buildKernel } from '../kernel/support/built-kernel.js';
import { pythonVerdicts } from '../support/nbformat.js';
import { temporaryFolder } from './support/folder.js';
import { callTool, startHost } from './support/hosts.js';
import { until } from './support/until.js';
import { openWindow } from './support/window.js';

/** Python takes seconds to load, on a machine that does other things too. */
const startMs = 60_000;
let built: BuiltKernel;

beforeAll(async () => {
  built = await buildKernel();
}, startMs);
afterAll(() => built.dispose());

async function startRealHost(file?: string) {
  return startHost({ file, kernel: createNodeKernel({ files: built.files }) });
}

describe('with real Python', { timeout: 2 * startMs }, () => {
  it('an agent and a person work on one notebook, and its file is valid', async () => {
    const path = join(await temporaryFolder(), 'real.ipynb');
    const host = await startRealHost(path);
    const versions: string[] = [];
    host.session.onEvent((event) => event.type === 'kernel' && versions.push(event.info.version));
    const window = await openWindow(host.url);
    const ran = await callTool(host, 'run_code', { code: 'import sys\nprint("hello")\nx = 20\nx + 1' });
    expect(ran).toMatchObject({ status: 'ok' });
    expect(versions.at(-1)).toMatch(/^3\.\d+\.\d+$/);
    const { cellId } = (await window.ask({ do: 'insert', index: 1, cellType: 'code', source: 'x * 2' })) as { cellId: string };
    expect(await window.ask({ do: 'run', cellId })).toEqual({ status: 'ok', executionCount: 2 });
    await until(() => window.replica?.get(cellId).cell.outputs.length);
    expect(window.replica?.get(cellId).cell.outputs).toMatchObject([{ data: { 'text/plain': '40' } }]);
    await host.close();
    const text = await readFile(path, 'utf8');
    expect(await pythonVerdicts([text])).toEqual([undefined]);
    expect(parseNotebook(text).notebook.cells).toMatchObject([
      { executionCount: 1, outputs: [{ text: 'hello\n' }, { data: { 'text/plain': '21' } }] },
      { executionCount: 2 },
    ]);
  });

  it('an endless loop that prints is seen by a window that comes later, which stops it', async () => {
    const host = await startRealHost();
    const running = callTool(host, 'run_code', { code: 'while True: print("on and on")' });
    await until(() => host.session.document.cells[0]?.outputs.length, startMs);
    const window = await openWindow(host.url);
    expect(window.hello?.running?.by).toMatchObject({ kind: 'agent', name: 'Claude' });
    await window.ask({ do: 'stop' });
    expect(await running).toMatchObject({ status: 'interrupted' });
    await until(() => window.replica?.version === host.session.document.version);
    expect(window.replica?.cells).toEqual(JSON.parse(JSON.stringify(host.session.document.cells)));
  });
});
