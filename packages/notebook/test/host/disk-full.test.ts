// @module-tag P-097

import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseNotebook } from '../../src/model/nbformat.js';
import { temporaryFolder } from './support/folder.js';
import { callTool, startHost } from './support/hosts.js';
import { bundle, exitOf, onLine, startProgram } from './support/programs.js';
import { ann, openStore, stateOf } from './support/stores.js';
import { until } from './support/until.js';

const run = promisify(execFile);

/** A disk of one megabyte; undefined where we may not mount one. */
async function smallDisk(): Promise<string | undefined> {
  const folder = join(await temporaryFolder(), 'disk');
  await mkdir(folder);
  const isMounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]).then(
    () => true,
    () => false,
  );
  if (!isMounted) return undefined;
  onTestFinished(() => run('umount', [folder]).then(() => {}));
  return folder;
}

describe('a full disk', () => {
  it('leaves the old file whole, says what to do, and saves by itself when there is space', async ({ skip }) => {
    const folder = await smallDisk();
    if (folder === undefined) return skip('Only root may mount a small disk.');
    const store = await openStore({ path: join(folder, 'a.ipynb') });
    const { id } = store.document.insert(0, { type: 'raw', source: 'first' }, { by: ann });
    await store.save();
    store.document.update(id, 'x'.repeat(3_000_000), { by: ann });
    await stateOf(store, 'failed');
    expect(store.state).toMatchObject({ detail: expect.stringMatching(/no space is left.*Free some space.*tried again/) });
    expect(parseNotebook(await readFile(store.path, 'utf8')).notebook.cells).toMatchObject([{ source: 'first' }]);
    // On a slow machine it may be trying again just now.
    await expect.poll(async () => (await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    await run('mount', ['-o', 'remount,size=20m', folder]);
    await stateOf(store, 'saved');
    expect(parseNotebook(await readFile(store.path, 'utf8')).notebook.cells[0]?.source).toHaveLength(3_000_000);
    await store.close();
  });

  it('is told to the agent that changes the notebook, and to who asks what the notebook is, as long as it is full', {
    tags: ['P-334'],
  }, async ({ skip }) => {
    const folder = await smallDisk();
    if (folder === undefined) return skip('Only root may mount a small disk.');
    const host = await startHost({ file: join(folder, 'a.ipynb') });
    const add = async (content: string) => (await host.callTool('add_text_cell', { cellIndex: 0, content })).content;
    expect(await add('x'.repeat(3_000_000))).toHaveLength(1);
    await until(() => host.fileState.kind === 'failed');
    expect((await add('more')).slice(1)).toMatchObject([{ text: expect.stringMatching(/not saved:.*no space is left.*Free some space/) }]);
    expect(await callTool(host, 'get_notebook_info')).toMatchObject({ unsaved: expect.stringContaining('no space is left') });
    await run('mount', ['-o', 'remount,size=20m', folder]);
    await until(() => host.fileState.kind === 'saved');
    expect(await add('as before')).toHaveLength(1);
    expect(await callTool(host, 'get_notebook_info')).not.toHaveProperty('unsaved');
    await host.close();
  });

  it('is met also as a limit on the size of files', async () => {
    const path = join(await temporaryFolder(), 'a.ipynb');
    const program = await bundle('./fill-disk.ts');
    // In blocks of 512 bytes or a kilobyte: between the small and the large notebook either way.
    const child = startProgram('sh', ['-c', 'ulimit -f 2000 && exec "$0" "$@"', process.execPath, program, path]);
    const said: string[] = [];
    onLine(child, (line) => said.push(line));
    await until(() => said[0]?.includes('EFBIG'));
    expect(parseNotebook(await readFile(path, 'utf8')).notebook.cells).toEqual([]);
    child.stdin.write('smaller');
    await until(() => said[1]?.includes('saved'));
    expect(parseNotebook(await readFile(path, 'utf8')).notebook.cells).toMatchObject([{ source: 'small' }]);
    child.stdin.end();
    await exitOf(child);
    expect(child.exitCode).toBe(0);
  });
});
