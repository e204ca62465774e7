// @module-tag deep

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LabNotebook } from '../../src/lab/lab-notebook.js';
import { Room } from '../../src/lab/room.js';
import { installTimeoutMs, TestLab } from '../lab/support/jupyter.js';
import { until } from '../lab/support/patient-until.js';
import { joinRoom } from '../lab/support/room-person.js';
import { notebooksToEdit } from './support/notebooks-to-edit.js';
import { difference } from './support/random-edits.js';

const notebooks = await notebooksToEdit();
const timeout = 60_000 + notebooks.length * 20_000;
/** A room is saved a second after its last change. */
const atOnce = 6;
const added = '# edited <é> "';
let lab: TestLab;

beforeAll(async () => {
  lab = await TestLab.start({});
}, installTimeoutMs);
afterAll(() => lab?.close());

async function put(path: string, bytes: Uint8Array): Promise<string> {
  const file = join(lab.folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, bytes);
  return file;
}

/** What the room has written, once an edit is in it: the line break comes last. */
function saved(file: string, edited: string): Promise<string> {
  return until(async () => {
    const text = await readFile(file, 'utf8');
    return text.includes(JSON.stringify(edited).slice(1, -1)) && text.endsWith('}\n') ? text : false;
  });
}

/** Ids that the file lacks are made up by the room. */
const withoutIds = (text: string) => text.replaceAll(/"id": "[^"]*"/g, '"id": ""');

async function fault({ read }: (typeof notebooks)[number], index: number): Promise<string | undefined> {
  const bytes = await read();
  const [ours, theirs] = [`${Math.floor(index / 20)}/${index}.ipynb`, `${Math.floor(index / 20)}/${index}-theirs.ipynb`];
  const file = await put(ours, bytes);
  const opened = await LabNotebook.open({ server: lab.server, path: ours }).catch(async (error: unknown) => {
    const { status } = await lab.server.ask(`api/contents/${ours}`, { query: { type: 'notebook' } });
    return status === 200 ? String(error) : undefined;
  });
  if (typeof opened !== 'object') return opened;
  await using notebook = { notebook: opened, [Symbol.asyncDispose]: () => opened.close() };
  const { cells } = notebook.notebook.session.document;
  const at = index % Math.max(1, cells.length);
  const cell = cells[at];
  if (!cell) return undefined;
  const room = await Room.open(lab.server, (await put(theirs, bytes)) && theirs);
  if (!room) return 'no room';
  try {
    const person = joinRoom(room.document, () => 'new');
    person.edit(person.cells()[at]?.id ?? '', cell.source + added);
    const { content, isError } = await opened.callTool('update_cell', { cellId: cell.id, content: cell.source + added }, { agent: 'Bot' });
    if (isError) return JSON.stringify(content);
    const [written, wanted] = await Promise.all([saved(file, added), saved(join(lab.folder, theirs), added)]);
    const [is, was] = [withoutIds(written), withoutIds(wanted)];
    return is === was ? undefined : `its file is not what Lab would have written: ${difference(was, is)}`;
  } finally {
    room.close();
  }
}

it('in shared documents of JupyterLab any notebook is edited, and its file is what Lab itself writes with that edit', {
  timeout,
  tags: ['P-693'],
}, async () => {
  const faults: string[] = [];
  for (let start = 0; start < notebooks.length; start += atOnce) {
    const some = notebooks.slice(start, start + atOnce);
    const found = await Promise.all(some.map((notebook, index) => fault(notebook, start + index).catch(String)));
    for (const [index, what] of found.entries()) if (what !== undefined) faults.push(`${some[index]?.name}: ${what}`);
  }
  expect(faults).toEqual([]);
});
