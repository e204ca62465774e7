import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { revOf } from '@notebridge/protocol/runs/cell-rev';
import { describe, expect, it } from 'vitest';
import { parseNotebook } from '../../src/model/nbformat.js';
import { TinyKernel } from '../fixtures/tiny-kernel.js';
import { temporaryFolder } from './support/folder.js';
import { callTool, startHost } from './support/hosts.js';
import { until } from './support/until.js';
import { openWindow, type TestWindow } from './support/window.js';

async function insert(window: TestWindow, source: string, index = 0): Promise<string> {
  return ((await window.ask({ do: 'insert', index, cellType: 'code', source })) as { cellId: string }).cellId;
}

describe('two windows', () => {
  it('both windows and the host agree after hundreds of edits from all sides', { tags: ['P-105'] }, async () => {
    const host = await startHost();
    const windows = [await openWindow(host.url), await openWindow(host.url)];
    const random = createRandom(7);
    const edits = Array.from({ length: 300 }, async (_, round) => {
      const window = windows[round % 2] as TestWindow;
      const cells = host.session.document.cells;
      const cellId = cells[Math.floor(random() * cells.length)]?.id ?? '';
      const index = Math.floor(random() * 5);
      const actions = [
        () => insert(window, `${round}`, index),
        () => insert(window, `${round}`, index),
        () => window.ask({ do: 'update', cellId, source: `${round}` }),
        () => window.ask({ do: 'move', cellId, index }),
        () => window.ask({ do: 'delete', cellIds: [cellId] }),
        () => callTool(host, 'update_cell', { cellId, content: `agent ${round}` }),
      ];
      // A cell may be gone by now; that is refused, and that is fine.
      await actions[round < 20 ? 0 : Math.floor(random() * actions.length)]?.().catch(() => {});
    });
    await Promise.all(edits);
    for (const { replica } of windows) {
      await until(() => replica?.version === host.session.document.version);
      expect(JSON.parse(JSON.stringify(replica?.snapshot()))).toEqual(JSON.parse(JSON.stringify(host.session.document.snapshot())));
    }
  });

  it('both windows see a run, its queue and its end', async () => {
    const kernel = new TinyKernel();
    const host = await startHost({ kernel });
    const [one, two] = [await openWindow(host.url), await openWindow(host.url)];
    const first = await insert(one, 'print("a")\nwait()\n1+1');
    const second = await insert(one, 'print("b")', 1);
    const ran = [one.ask({ do: 'run', cellId: first }), one.ask({ do: 'run', cellId: second })];
    await until(() => two.replica?.find(first)?.outputs.length === 1);
    expect(host.session.queued).toHaveLength(1);
    kernel.release();
    expect(await Promise.all(ran)).toEqual([
      { status: 'ok', executionCount: 1 },
      { status: 'ok', executionCount: 2 },
    ]);
    await until(() => two.of('session').filter(({ event }) => event.type === 'finished').length === 2);
    const events = two
      .of('session')
      .flatMap(({ event }) => ('run' in event ? [`${event.type} ${event.run.cellId === first ? 1 : 2}`] : []));
    expect(events).toEqual(['queued 1', 'started 1', 'queued 2', 'finished 1', 'started 2', 'finished 2']);
    expect(two.replica?.get(first).cell).toMatchObject({ executionCount: 1, outputs: [{ text: 'a\n' }, { data: { 'text/plain': '2' } }] });
  });

  it('a reload in the middle of a run loses nothing', async () => {
    const kernel = new TinyKernel();
    const host = await startHost({ kernel });
    const before = await openWindow(host.url);
    const cellId = await insert(before, 'print("before")\nwait()\nprint("after")');
    before.ask({ do: 'run', cellId }).catch(() => {});
    await until(() => before.replica?.find(cellId)?.outputs.length === 1);
    before.socket.terminate();
    await until(() => host.openWindows === 0);
    const after = await openWindow(host.url);
    expect(after.hello).toMatchObject({ running: { cellId, state: 'running' }, kernel: { state: 'busy', name: 'tiny' } });
    expect(after.replica?.get(cellId).cell.outputs).toMatchObject([{ text: 'before\n' }]);
    kernel.release();
    await until(() => after.of('session').some(({ event }) => event.type === 'finished'));
    expect(after.replica?.get(cellId).cell.outputs).toMatchObject([{ text: 'before\nafter\n' }]);
  });
});

describe('a window', () => {
  it('does all that the protocol has', async () => {
    const path = join(await temporaryFolder(), 'a.ipynb');
    const host = await startHost({ file: path });
    const window = await openWindow(host.url);
    expect(window.hello).toMatchObject({
      title: 'a.ipynb',
      readOnly: false,
      file: { kind: 'saved' },
      running: null,
      queued: [],
      agents: [],
    });
    const a = await insert(window, 'a = 1');
    const b = await insert(window, '# B', 1);
    await window.ask({ do: 'setType', cellId: b, cellType: 'markdown' });
    await window.ask({ do: 'move', cellId: b, index: 0 });
    await window.ask({ do: 'run', cellId: a });
    await window.ask({ do: 'clearOutputs', cellId: a });
    await window.ask({ do: 'delete', cellIds: [a] });
    expect(await window.ask({ do: 'undoStep' })).toEqual({ cellId: a });
    const other = await openWindow(host.url);
    await expect(other.ask({ do: 'undoStep' })).rejects.toMatchObject({ code: 'nothing_to_undo' });
    await window.ask({ do: 'interrupt' });
    await window.ask({ do: 'stop' });
    await window.ask({ do: 'restart' });
    await window.ask({ do: 'save' });
    const saved = parseNotebook(await readFile(path, 'utf8')).notebook.cells;
    expect(saved).toMatchObject([
      { id: b, type: 'markdown', source: '# B' },
      { id: a, type: 'code', executionCount: null },
    ]);
  });

  it('is told when its edit is stale, and what was refused stays as it is', async () => {
    const host = await startHost();
    const [one, two] = [await openWindow(host.url), await openWindow(host.url)];
    const cellId = await insert(one, 'a');
    const expectedRev = revOf(host.session.document.get(cellId).cell);
    await one.ask({ do: 'update', cellId, source: 'one', expectedRev });
    await expect(two.ask({ do: 'update', cellId, source: 'two', expectedRev })).rejects.toMatchObject({ code: 'stale_cell' });
    expect(host.session.document.get(cellId).cell.source).toBe('one');
  });

  it('sees what agents do, takes it back, keeps them from writing, and disconnects them', async () => {
    const host = await startHost();
    const window = await openWindow(host.url);
    const { newCellId } = await callTool(host, 'add_code_cell', { cellIndex: 0, language: 'python', code: 'agent' });
    await until(() => window.of('journal').at(-1)?.journal.length === 1);
    const [entry] = window.of('journal').at(-1)?.journal ?? [];
    expect(entry).toMatchObject({ action: 'insert', cellId: newCellId, by: { name: 'Claude', kind: 'agent' }, undone: false });
    await window.ask({ do: 'undo', entryId: entry?.id ?? 0 });
    expect(host.session.document.cells).toEqual([]);
    await window.ask({ do: 'setReadOnly', readOnly: true });
    expect(await callTool(host, 'add_code_cell', { cellIndex: 0, language: 'python', code: 'x' })).toMatchObject({
      error: { code: 'read_only' },
    });
    await insert(window, 'a person may');
    host.setAgents([{ id: 'agent-1', name: 'Claude' }]);
    await until(() => window.of('agents').at(-1)?.agents[0]?.name === 'Claude');
    const disconnected: string[] = [];
    host.onDisconnectAgent((id) => disconnected.push(id));
    await window.ask({ do: 'disconnectAgent', agentId: 'agent-1' });
    expect(disconnected).toEqual(['agent-1']);
    await expect(window.ask({ do: 'disconnectAgent', agentId: 'agent-2' })).rejects.toMatchObject({ code: 'unknown_agent' });
  });

  it('is not flooded with a journal of large cells', async () => {
    const host = await startHost();
    const window = await openWindow(host.url);
    const { newCellId } = await callTool(host, 'add_text_cell', { cellIndex: 0, content: '' });
    for (const letter of 'abcdefgh') await callTool(host, 'update_cell', { cellId: newCellId, content: letter.repeat(1_000_000) });
    const isLast = () => window.of('journal').at(-1)?.journal.at(-1)?.after?.cell.source.startsWith('h');
    await until(isLast);
    expect(host.session.journal.entries).toHaveLength(9);
    expect(window.of('journal').at(-1)?.journal).toHaveLength(1);
    expect((await openWindow(host.url)).hello?.journal).toHaveLength(1);
  });

  it('decides a conflict of the file', async () => {
    const path = join(await temporaryFolder(), 'a.ipynb');
    const host = await startHost({ file: path });
    const window = await openWindow(host.url);
    await insert(window, 'mine');
    await window.ask({ do: 'save' });
    await rm(path);
    await until(() => window.of('file').at(-1)?.file.kind === 'conflict');
    await expect(window.ask({ do: 'save' })).rejects.toMatchObject({ code: 'conflict' });
    await window.ask({ do: 'resolveConflict', keep: 'mine' });
    await until(() => window.of('file').at(-1)?.file.kind === 'saved');
    expect(await readFile(path, 'utf8')).toContain('mine');
  });

  it('a notebook without a file has its window say so when a person saves', async () => {
    const window = await openWindow((await startHost()).url);
    expect(window.hello).toMatchObject({ title: 'Untitled', file: { kind: 'none' } });
    await expect(window.ask({ do: 'save' })).rejects.toMatchObject({ code: 'no_file' });
  });

  it('hears why a cell did not run', async () => {
    const host = await startHost({ kernel: new TinyKernel({ startFaults: ['no Python here', 'no Python here'] }) });
    const window = await openWindow(host.url);
    const cellId = await insert(window, '1');
    await expect(window.ask({ do: 'run', cellId })).rejects.toMatchObject({
      code: 'kernel_failed',
      message: expect.stringContaining('no Python here'),
    });
  });
});

/** Numbers that look random and are the same each time (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
