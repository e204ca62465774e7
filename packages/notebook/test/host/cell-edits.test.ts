import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { revOf } from '@notebridge/protocol/runs/cell-rev';
import { describe, expect, it } from 'vitest';
import { createNotebookHost } from '../../src/host/notebook-host.js';
import { TinyKernel } from '../fixtures/tiny-kernel.js';
import { temporaryFolder } from './support/folder.js';
import { callTool, startHost } from './support/hosts.js';
import { openWindow, type TestWindow } from './support/window.js';

async function windowOn(...sources: string[]) {
  const kernel = new TinyKernel();
  const host = await startHost({ kernel });
  const window = await openWindow(host.url);
  const ids: string[] = [];
  for (const [index, source] of sources.entries())
    ids.push(((await window.ask({ do: 'insert', index, cellType: 'code', source })) as { cellId: string }).cellId);
  const { document } = host.session;
  return { host, kernel, window, ids, document, sources: () => document.cells.map(({ source }) => source) };
}

describe('steps of a window', () => {
  it('paste all that a cell keeps, checked as a file is', { tags: ['P-230'] }, async () => {
    const { window, document } = await windowOn();
    const output = { output_type: 'stream', name: 'stdout', text: 'a\n' } as const;
    const image = { 'a.png': { 'image/png': 'aGk=' } };
    await window.ask({
      do: 'paste',
      index: 0,
      cells: [
        { cellType: 'code', source: 'x', metadata: { tags: ['t'] }, outputs: [output], executionCount: 7 },
        { cellType: 'markdown', source: '![](attachment:a.png)', attachments: image, outputs: [output], executionCount: 3 },
      ],
    });
    expect(document.cells).toMatchObject([
      { type: 'code', source: 'x', metadata: { tags: ['t'] }, outputs: [output], executionCount: 7 },
      { type: 'markdown', attachments: image, outputs: [], executionCount: null },
    ]);
    const code = (more: object) =>
      window.ask({ do: 'paste', index: 0, cells: [{ cellType: 'code', source: 'x', ...more } as never] }).catch((error) => error.code);
    expect(await code({ outputs: [{ output_type: 'stream', text: 'without a name' }] })).toBe('bad_cell');
    for (const more of [
      { outputs: [{ output_type: 'none' }] },
      { outputs: [7] },
      { id: 'mine' },
      { metadata: [] },
      { executionCount: 'x' },
    ])
      expect(await code(more)).toBe('bad_request');
    expect(document.cells).toHaveLength(2);
  });

  it('split: what stands behind the place keeps id and outputs; merge: the first one, without outputs', { tags: ['P-230'] }, async () => {
    const { window, ids, document, sources } = await windowOn('print("a")\nprint("b")', '1');
    const [id = ''] = ids;
    await window.ask({ do: 'run', cellId: id });
    const rev = revOf(document.get(id).cell);
    await window.ask({ do: 'split', cellId: id, at: 'print("a")\n'.length, expectedRev: rev });
    expect(sources()).toEqual(['print("a")', 'print("b")', '1']);
    expect(document.cells[1]).toMatchObject({ id, executionCount: 1, outputs: [{ text: 'a\nb\n' }] });
    expect(document.cells[0]).toMatchObject({ outputs: [], executionCount: null });
    const all = document.cells.map((cell) => cell.id);
    await expect(window.ask({ do: 'split', cellId: id, at: 2, expectedRev: rev })).rejects.toMatchObject({ code: 'stale_cell' });
    expect(await window.ask({ do: 'merge', cellIds: all.toReversed() })).toEqual({ cellId: all[0] });
    expect(sources()).toEqual(['print("a")\n\nprint("b")\n\n1']);
    await window.ask({ do: 'undoStep' });
    expect(document.cells.map((cell) => cell.id)).toEqual(all);
    expect(document.cells[1]).toMatchObject({ id, outputs: [{ text: 'a\nb\n' }] });
    await window.ask({ do: 'undoStep' });
    expect(sources()).toEqual(['print("a")\nprint("b")', '1']);
  });

  it('changes all sources or none, and takes them back in one step, but nothing that somebody changed since', {
    tags: ['P-230'],
  }, async () => {
    const { window, ids, document, sources } = await windowOn('a', 'b', 'c');
    const revs = () => document.cells.map(revOf);
    const update = (at: number, source: string) => ({ cellId: ids[at] ?? '', source, expectedRev: revs()[at] ?? 0 });
    const stale = { ...update(1, 'B'), expectedRev: 1 };
    await expect(window.ask({ do: 'updateAll', updates: [update(0, 'A'), stale] })).rejects.toMatchObject({ code: 'stale_cell' });
    expect(sources()).toEqual(['a', 'b', 'c']);
    await window.ask({ do: 'updateAll', updates: [update(0, 'A'), update(2, 'C')] });
    expect(sources()).toEqual(['A', 'b', 'C']);
    await window.ask({ do: 'undoStep' });
    expect(sources()).toEqual(['a', 'b', 'c']);
    await window.ask({ do: 'delete', cellIds: [ids[1] ?? ''] });
    await window.ask({ do: 'updateAll', updates: [{ ...update(0, 'A'), cellId: ids[0] ?? '' }] });
    document.update(ids[0] ?? '', 'other', { by: { kind: 'person', name: 'Other' } });
    await expect(window.ask({ do: 'undoStep' })).rejects.toMatchObject({ code: 'changed_since' });
    expect(sources()).toEqual(['other', 'c']);
    // What was done before is not barred by it.
    await window.ask({ do: 'undoStep' });
    expect(sources()).toEqual(['other', 'b', 'c']);
  });

  it('are taken back in turn with what agents did, the last one first, but nothing that a person typed', { tags: ['P-636'] }, async () => {
    const { host, window, ids, document, sources } = await windowOn('a', 'b', 'c');
    const [a = '', b = ''] = ids;
    await callTool(host, 'delete_cell', { cellId: a });
    await window.ask({ do: 'move', cellId: b, index: 1 });
    await callTool(host, 'update_cell', { cellId: b, content: 'agent' });
    await callTool(host, 'add_text_cell', { cellIndex: 0, content: '# Agent' });
    expect(sources()).toEqual(['# Agent', 'c', 'agent']);
    // A window that was opened since has not done the move, and the changes of agents are the same.
    const late = await openWindow(host.url);
    await late.ask({ do: 'undoStep' });
    expect(sources()).toEqual(['c', 'agent']);
    await window.ask({ do: 'undoStep' });
    expect(sources()).toEqual(['c', 'b']);
    await window.ask({ do: 'undoStep' });
    expect(sources()).toEqual(['b', 'c']);
    expect(await window.ask({ do: 'undoStep' })).toEqual({ cellId: a });
    expect(sources()).toEqual(['a', 'b', 'c']);
    await expect(window.ask({ do: 'undoStep' })).rejects.toMatchObject({ code: 'nothing_to_undo' });
    await callTool(host, 'add_text_cell', { cellIndex: 0, content: '# Agent' });
    await callTool(host, 'update_cell', { cellId: b, content: 'agent' });
    document.update(b, 'typed', { by: { kind: 'person', name: 'Ann' } });
    await expect(window.ask({ do: 'undoStep' })).rejects.toMatchObject({ code: 'changed_since' });
    expect(sources()).toEqual(['# Agent', 'a', 'typed', 'c']);
    await window.ask({ do: 'undoStep' });
    expect(sources()).toEqual(['a', 'typed', 'c']);
  });

  it('run in their order up to the first that fails, and leave alone what others have queued', { tags: ['P-231'] }, async () => {
    const { host, kernel, window, ids, document } = await windowOn('wait()', '1/0', 'print("c")', 'print("d")');
    const ran = window.ask({ do: 'runAll', to: ids[2] ?? '' });
    await expect.poll(() => host.session.queued.length).toBe(2);
    const other = host.session.run(ids[3] ?? '', { by: { kind: 'agent', name: 'Claude' } });
    kernel.release();
    expect(await ran).toEqual({ status: 'error', failedId: ids[1] });
    expect(await other).toMatchObject({ status: 'ok' });
    expect(document.cells.map(({ executionCount }) => executionCount)).toEqual([1, 2, null, 3]);
    const finished = await openWindow(host.url);
    // In no order: an id may be all digits, which come first in an object.
    const some = expect.any(Number);
    expect(finished.hello?.durations).toEqual({ [ids[0] ?? '']: some, [ids[1] ?? '']: some, [ids[3] ?? '']: some });
  });

  it('run by the dozen without a warning', async () => {
    const { window } = await windowOn(...Array.from({ length: 12 }, (_, at) => `print(${at})`));
    const warnings: string[] = [];
    const listen = ({ name }: Error) => void warnings.push(name);
    process.on('warning', listen);
    expect(await window.ask({ do: 'runAll' })).toEqual({ status: 'ok' });
    process.off('warning', listen);
    expect(warnings).toEqual([]);
  });

  it('tell windows apart: each acts under a name of its own', async () => {
    const { host, window, ids, document } = await windowOn('a');
    const other = await openWindow(host.url);
    await other.ask({ do: 'update', cellId: ids[0] ?? '', source: 'b' });
    expect(document.cells[0]?.changedBy).toEqual({ kind: 'person', name: other.hello?.you });
    expect(other.hello?.you).not.toBe(window.hello?.you);
  });

  it('ask the kernel, within the code', async () => {
    const { window } = await windowOn();
    expect(await window.ask({ do: 'complete', code: 'pri', position: 3 })).toMatchObject({ start: expect.any(Number) });
    await expect(window.ask({ do: 'complete', code: 'x', position: 2 })).rejects.toMatchObject({ code: 'bad_request' });
    await expect(window.ask({ do: 'inspect', code: 'x', position: 1, detail: 2 as never })).rejects.toMatchObject({ code: 'bad_request' });
  });
});

describe('notebooks of the folder', () => {
  async function hostIn(folder: string) {
    const kernel = () => new TinyKernel();
    const createBeside = (file: string) => createNotebookHost({ file, kernel: kernel() });
    const host = await startHost({ file: join(folder, 'one.ipynb'), kernel: kernel(), createBeside });
    return { host, window: await openWindow(host.url) };
  }
  const refusal = (window: TestWindow, path: string, isNew = false) =>
    window.ask({ do: 'openNotebook', path, isNew }).then(
      () => 'opened',
      ({ code }: { code: string }) => code,
    );

  it('are listed, opened, and made; each has a window and a kernel of its own', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'part/.hidden'), { recursive: true });
    const empty = '{"cells":[],"metadata":{},"nbformat":4,"nbformat_minor":5}';
    await writeFile(join(folder, 'part/two.ipynb'), empty);
    await writeFile(join(folder, 'part/.hidden/three.ipynb'), empty);
    const { window } = await hostIn(folder);
    expect(await window.ask({ do: 'listNotebooks' })).toEqual([
      { path: 'one.ipynb', isOpen: true },
      { path: 'part/two.ipynb', isOpen: false },
    ]);
    const opened = (await window.ask({ do: 'openNotebook', path: 'part/two.ipynb', isNew: false })) as { url: string };
    const second = await openWindow(opened.url);
    expect(second.hello?.title).toBe('two.ipynb');
    // Once more is another window on the same notebook, not another host.
    const again = (await window.ask({ do: 'openNotebook', path: 'part/two.ipynb', isNew: false })) as { url: string };
    expect(new URL(again.url).port).toBe(new URL(opened.url).port);
    await window.ask({ do: 'openNotebook', path: 'made.ipynb', isNew: true });
    expect(JSON.parse(await readFile(join(folder, 'made.ipynb'), 'utf8'))).toMatchObject({ nbformat: 4, cells: [] });
  });

  it('end with the notebook from which they were opened', async () => {
    const folder = await temporaryFolder();
    const { host, window } = await hostIn(folder);
    const { url } = (await window.ask({ do: 'openNotebook', path: 'two.ipynb', isNew: true })) as { url: string };
    const second = await openWindow(url);
    await host.close();
    await expect.poll(() => second.closed?.code).toBe(1001);
  });

  it('are those of this folder alone', { tags: ['P-232'] }, async () => {
    const outside = await temporaryFolder();
    const empty = '{"cells":[],"metadata":{},"nbformat":4,"nbformat_minor":5}';
    await writeFile(join(outside, 'secret.ipynb'), empty);
    const folder = await temporaryFolder();
    await symlink(outside, join(folder, 'link'));
    await symlink(join(outside, 'secret.ipynb'), join(folder, 'linked.ipynb'));
    const { window } = await hostIn(folder);
    expect(await window.ask({ do: 'listNotebooks' })).toEqual([{ path: 'one.ipynb', isOpen: true }]);
    for (const path of ['../x.ipynb', '/etc/x.ipynb', 'link/secret.ipynb', 'linked.ipynb', 'a//b.ipynb', 'x.txt', 'none.ipynb', ''])
      expect(`${path}: ${await refusal(window, path)}`).toBe(`${path}: bad_path`);
    for (const path of ['../new.ipynb', 'link/new.ipynb', 'missing/new.ipynb', 'one.ipynb'])
      expect(`${path}: ${await refusal(window, path, true)}`).toBe(`${path}: bad_path`);
    const scratch = await openWindow((await startHost()).url);
    expect(await refusal(scratch, 'x.ipynb')).toBe('no_file');
  });

  it('the command is named where there is no way to open another notebook', async () => {
    const folder = await temporaryFolder();
    const host = await startHost({ file: join(folder, 'one.ipynb'), kernel: new TinyKernel() });
    const window = await openWindow(host.url);
    const failed = await window.ask({ do: 'openNotebook', path: 'new one.ipynb', isNew: true }).catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: 'not_openable_here', message: expect.stringContaining('notebridge notebook "') });
  });
});
