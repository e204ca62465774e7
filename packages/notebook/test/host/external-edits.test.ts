// @module-tag P-099

import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { coreAndDeep } from '../../../notebridge/test/support/core-and-deep.js';
import type { FileStore } from '../../src/host/file-store.js';
import { printNotebook } from '../../src/model/nbformat.js';
import { pythonVerdicts } from '../support/nbformat.js';
import { temporaryFolder } from './support/folder.js';
import { editWithPython } from './support/other-program.js';
import { ann, openStore, stateOf } from './support/stores.js';
import { until } from './support/until.js';

/** Changes that stay unsaved until something saves them. */
const slow = { quietMs: 100_000, longestMs: 100_000 };

/** A file with the code cells a, b, c, d. */
async function openLetters(options: Parameters<typeof openStore>[0] = {}): Promise<FileStore> {
  const path = join(await temporaryFolder(), 'letters.ipynb');
  const cells = ['a', 'b', 'c', 'd'].map((id) => ({
    id,
    type: 'code' as const,
    source: `${id} = 1`,
    metadata: {},
    outputs: [],
    executionCount: null,
  }));
  await writeFile(path, printNotebook({ metadata: { kernelspec: { display_name: 'Python 3', name: 'python3' } }, minor: 5, cells }));
  return openStore({ path, ...options });
}

const idsOf = (store: FileStore) => store.document.cells.map(({ id }) => id).join('');
const sourceOf = (store: FileStore, id: string) => store.document.get(id).cell.source;

describe('with nothing unsaved here', () => {
  it('takes over what Python’s nbformat writes, by as few changes as possible', async () => {
    const store = await openLetters();
    const ops: string[] = [];
    store.document.onChange(({ change }) => ops.push(change.op.type));
    await editWithPython(
      store.path,
      { do: 'update', id: 'b', source: 'b = 2' },
      { do: 'delete', id: 'c' },
      { do: 'insert', index: 0, id: 'new', source: '# New' },
      { do: 'metadata', metadata: { title: 'Letters' } },
      { do: 'output', id: 'd', text: 'out\n' },
    );
    await until(() => store.document.metadata.title === 'Letters');
    expect(ops.sort()).toEqual(['delete', 'insert', 'setMetadata', 'setOutputs', 'update']);
    expect(idsOf(store)).toBe('newabd');
    expect(sourceOf(store, 'b')).toBe('b = 2');
    expect(store.document.get('d').cell.outputs).toMatchObject([{ text: 'out\n' }]);
    expect(store.state).toEqual({ kind: 'saved' });
  });

  it('moves only the cell that was moved, and changes no other', { tags: ['deep'] }, async () => {
    const store = await openLetters();
    const before = store.document.get('b').cell;
    const ops: unknown[] = [];
    store.document.onChange(({ change }) => ops.push(change.op));
    await editWithPython(store.path, { do: 'move', id: 'a', index: 2 });
    await until(() => idsOf(store) === 'bcad');
    expect(ops).toEqual([{ type: 'move', id: 'a', index: 2 }]);
    expect(store.document.get('b').cell).toBe(before);
    expect(store.document.get('a').cell.changedBy).toMatchObject({ name: 'Another program' });
  });

  it('does nothing when only the layout of the file has changed, and does not write it back', { tags: ['deep'] }, async () => {
    const store = await openLetters();
    const { version } = store.document;
    const text = JSON.stringify(JSON.parse(await readFile(store.path, 'utf8')));
    await writeFile(store.path, text);
    await store.check();
    await store.save();
    expect(store.document.version).toBe(version);
    expect(await readFile(store.path, 'utf8')).toBe(text);
  });

  it('waits for the rest of a file that is written piece by piece', { tags: ['deep'] }, async () => {
    const store = await openLetters();
    const text = (await readFile(store.path, 'utf8')).replace('a = 1', 'a = 2');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    await writeFile(store.path, text.slice(0, 100));
    const checked = store.check();
    // It has read the first piece, and will look again.
    while (vi.getTimerCount() === 0) await nextTurn();
    expect(sourceOf(store, 'a')).toBe('a = 1');
    await writeFile(store.path, text);
    vi.advanceTimersToNextTimer();
    await checked;
    expect(store.state).toEqual({ kind: 'saved' });
    expect(sourceOf(store, 'a')).toBe('a = 2');
  });

  it('takes over a file that was put in its place by a rename', { tags: ['deep'] }, async () => {
    const store = await openLetters();
    const text = (await readFile(store.path, 'utf8')).replace('a = 1', 'a = 3');
    await writeFile(`${store.path}.new`, text);
    await rename(`${store.path}.new`, store.path);
    await until(() => sourceOf(store, 'a') === 'a = 3');
    await writeFile(`${store.path}.new`, text.replace('a = 3', 'a = 4'));
    await rename(`${store.path}.new`, store.path);
    await until(() => sourceOf(store, 'a') === 'a = 4');
  });
});

describe('with unsaved changes here', () => {
  it('merges what does not overlap, in the document and in the file', async () => {
    const store = await openLetters({ timing: slow });
    store.document.update('a', 'a = "mine"', { by: ann });
    store.document.setOutputs('b', [{ output_type: 'stream', name: 'stdout', text: 'mine' }], { by: ann, executionCount: 1 });
    store.document.insert(4, { type: 'raw', source: 'mine', id: 'e' }, { by: ann });
    await editWithPython(
      store.path,
      { do: 'update', id: 'b', source: 'b = "theirs"' },
      { do: 'delete', id: 'c' },
      { do: 'insert', index: 1, id: 'n', source: 'theirs' },
    );
    await until(() => idsOf(store) === 'anbde');
    await store.save();
    expect(store.state).toEqual({ kind: 'saved' });
    expect(sourceOf(store, 'a')).toBe('a = "mine"');
    expect(store.document.get('b').cell).toMatchObject({ source: 'b = "theirs"', executionCount: 1, outputs: [{ text: 'mine' }] });
    const text = await readFile(store.path, 'utf8');
    expect(text).toBe(printNotebook(store.document.toNotebook()));
    expect(await pythonVerdicts([text])).toEqual([undefined]);
  });

  it('finds the change before it saves, also when nobody tells of it', { tags: ['deep'] }, async () => {
    const store = await openLetters({ timing: slow });
    store.document.update('a', 'a = "mine"', { by: ann });
    await writeFile(store.path, (await readFile(store.path, 'utf8')).replace('b = 1', 'b = 2'));
    await store.save();
    expect(await readFile(store.path, 'utf8')).toContain('b = 2');
    expect(await readFile(store.path, 'utf8')).toContain('mine');
  });

  const choices = [
    ['mine', 'a = "mine"'],
    ['theirs', 'a = "theirs"'],
  ] as const;
  for (const { cells, tags } of coreAndDeep(choices, ([keep]) => keep === 'theirs'))
    it.each(cells)('asks where both have changed one cell, and keeps %s', { tags }, async (keep, expected) => {
      const store = await openLetters({ timing: { ...slow, retryMs: 20 } });
      store.document.update('a', 'a = "mine"', { by: ann });
      store.document.update('b', 'b = "mine"', { by: ann });
      await editWithPython(
        store.path,
        { do: 'update', id: 'a', source: 'a = "theirs"' },
        { do: 'update', id: 'c', source: 'c = "theirs"' },
      );
      const theirs = await readFile(store.path, 'utf8');
      await stateOf(store, 'conflict');
      expect(store.state).toMatchObject({ found: 'changed', detail: expect.stringContaining('the text of the cell "a"') });
      await expect(store.save()).rejects.toMatchObject({ code: 'conflict' });
      store.document.update('d', 'd = "more"', { by: ann });
      expect(await readFile(store.path, 'utf8')).toBe(theirs);
      await store.resolve(keep);
      expect(store.state).toEqual({ kind: 'saved' });
      expect(['a', 'b', 'c', 'd'].map((id) => sourceOf(store, id))).toEqual([expected, 'b = "mine"', 'c = "theirs"', 'd = "more"']);
      expect(await readFile(store.path, 'utf8')).toBe(printNotebook(store.document.toNotebook()));
      await expect(store.resolve('mine')).rejects.toMatchObject({ code: 'no_conflict' });
    });

  it('lets a conflict go when the other program takes its change back', { tags: ['deep'] }, async () => {
    const store = await openLetters({ timing: slow });
    const before = await readFile(store.path, 'utf8');
    store.document.update('a', 'a = "mine"', { by: ann });
    await editWithPython(store.path, { do: 'update', id: 'a', source: 'a = "theirs"' });
    await stateOf(store, 'conflict');
    await writeFile(store.path, before);
    await stateOf(store, 'unsaved');
    await store.save();
    expect(await readFile(store.path, 'utf8')).toContain('mine');
  });

  it('keeps both versions when it is closed in a conflict', { tags: ['deep', 'P-100'] }, async () => {
    const store = await openLetters({ timing: slow });
    store.document.update('a', 'a = "mine"', { by: ann });
    await editWithPython(store.path, { do: 'update', id: 'a', source: 'a = "theirs"' });
    const theirs = await readFile(store.path, 'utf8');
    const error = await store.close().then(
      () => undefined,
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ code: 'not_saved', message: expect.stringContaining('letters.unsaved-') });
    expect(await readFile(store.path, 'utf8')).toBe(theirs);
    expect(await readFile(error.data.rescuedTo, 'utf8')).toContain('mine');
  });
});

describe('a file that is gone', () => {
  it('is a conflict; kept here, it is written again', { tags: ['deep'] }, async () => {
    const store = await openLetters();
    await rm(store.path);
    await stateOf(store, 'conflict');
    expect(store.state).toMatchObject({ found: 'removed' });
    store.document.update('a', 'a = 2', { by: ann });
    await expect(store.save()).rejects.toMatchObject({ code: 'conflict' });
    await store.resolve('mine');
    expect(store.state).toEqual({ kind: 'saved' });
    expect(await readFile(store.path, 'utf8')).toContain('a = 2');
  });

  it('let go of, it is written only when a person saves', { tags: ['deep'] }, async () => {
    const store = await openLetters();
    await rm(store.path);
    await stateOf(store, 'conflict');
    await store.resolve('theirs');
    expect(store.state).toEqual({ kind: 'none' });
    store.document.update('a', 'a = 2', { by: ann });
    await store.check();
    await expect(readFile(store.path)).rejects.toMatchObject({ code: 'ENOENT' });
    await store.save();
    expect(store.state).toEqual({ kind: 'saved' });
    expect(await readFile(store.path, 'utf8')).toContain('a = 2');
  });

  it('is no conflict if it is back at once, as git does it, and none any more if it comes back later', { tags: ['deep'] }, async () => {
    const store = await openLetters();
    const text = await readFile(store.path, 'utf8');
    const states: string[] = [];
    store.onState(({ kind }) => states.push(kind));
    await rm(store.path);
    const checked = store.check();
    await writeFile(store.path, text.replace('a = 1', 'a = 2'));
    await checked;
    expect(states).toEqual([]);
    await rm(store.path);
    await stateOf(store, 'conflict');
    await writeFile(store.path, text);
    await stateOf(store, 'saved');
    expect(sourceOf(store, 'a')).toBe('a = 1');
  });

  it('a notebook that is gone with its folder is rescued when the host closes', { tags: ['P-100'] }, async () => {
    const folder = join(await temporaryFolder(), 'sub');
    await mkdir(folder);
    const store = await openStore({ path: join(folder, 'a.ipynb') });
    store.document.insert(0, { type: 'raw', source: 'mine' }, { by: ann });
    await rm(folder, { recursive: true });
    const error = await store.close().then(
      () => undefined,
      (thrown) => thrown,
    );
    expect(await readFile(error.data.rescuedTo, 'utf8')).toContain('mine');
    await rm(join(error.data.rescuedTo, '..'), { recursive: true });
  });
});

describe('a file that becomes unreadable', () => {
  it('is a conflict that only the mended file or the version here can end', { tags: ['deep'] }, async () => {
    const store = await openLetters();
    const text = await readFile(store.path, 'utf8');
    await writeFile(store.path, '<<<<<<< HEAD\n');
    await stateOf(store, 'conflict');
    expect(store.state).toMatchObject({ found: 'invalid', detail: expect.stringContaining('line 1, column 1') });
    await expect(store.resolve('theirs')).rejects.toMatchObject({ code: 'conflict' });
    expect(await readFile(store.path, 'utf8')).toBe('<<<<<<< HEAD\n');
    await writeFile(store.path, text.replace('a = 1', 'a = 2'));
    await stateOf(store, 'saved');
    expect(sourceOf(store, 'a')).toBe('a = 2');
    await writeFile(store.path, 'gone again');
    await stateOf(store, 'conflict');
    await store.resolve('mine');
    expect(await readFile(store.path, 'utf8')).toContain('a = 2');
  });
});
