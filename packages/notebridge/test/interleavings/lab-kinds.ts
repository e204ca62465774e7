import { fileCell, MemoryServer } from '../../../notebook/test/lab/support/memory-server.js';
import { joinRoom } from '../../../notebook/test/lab/support/room-person.js';
import { LayeredProvider } from '../../src/middleware/layered-provider.js';
import { OneJupyterNotebook } from '../../src/notebooks/jupyter/jupyter-notebook.js';
import { ReadBeforeWriteMiddleware } from '../../src/notebooks/reads/read-before-write.js';
import type { NotebookKind, TextCell } from './notebook-kind.js';

/** The file is written as a whole, whatever was changed in it. */
const editing = new Set(['update_cell', 'delete_cell', 'undo_last_change', 'add_code_cell', 'move_cell']);

let lastId = 0;
const newId = (): string => `person-${++lastId}`;

/** JupyterLab whose tabs share the document: the person is another client of the room. */
export async function openLiveKind(): Promise<NotebookKind> {
  const server = await MemoryServer.open({ live: true });
  const { onOthers, cells, ...person } = joinRoom(server.document, newId);
  // A cell that is moved or deleted is taken out of the document: Lab itself knows no other way.
  const kind = await openKind(server, { cells, person, window: new Set(['move_cell', 'delete_cell', 'undo_last_change']) });
  onOthers((before, after) => kind.onAgentWrite(before, after));
  return kind;
}

/** JupyterLab without shared documents: what counts is what the person saves. */
export async function openStoredKind(): Promise<NotebookKind> {
  const server = await MemoryServer.open({ live: false });
  const cells = (): TextCell[] => server.cells.map(({ id, source }) => ({ id, source }));
  const change = (act: (cells: MemoryServer['cells']) => MemoryServer['cells']): void => {
    server.cells = act(server.cells);
  };
  const person: NotebookKind['person'] = {
    edit: (cellId, source) => change((all) => all.map((cell) => (cell.id === cellId ? { ...cell, source } : cell))),
    add: (index, source) => change((all) => all.toSpliced(index, 0, fileCell(newId(), source))),
    remove: (cellId) => change((all) => all.filter(({ id }) => id !== cellId)),
    move: (cellId, index) =>
      change((all) => all.filter(({ id }) => id !== cellId).toSpliced(index, 0, ...all.filter(({ id }) => id === cellId))),
  };
  const kind = await openKind(server, { cells, person, window: editing });
  server.onWrite = (written) => kind.onAgentWrite(cells(), written);
  return kind;
}

async function openKind(server: MemoryServer, parts: Pick<NotebookKind, 'cells' | 'person' | 'window'>): Promise<NotebookKind> {
  // From its source: the built package has a Yjs of its own, beside that of the room here. Its types are those of the package.
  const { LabWorkspace } = (await import(
    '../../../notebook/src/lab/lab-workspace.js' as string
  )) as typeof import('@notebridge/notebook/lab');
  const workspace = new LabWorkspace({ target: { baseUrl: server.baseUrl }, env: {} });
  const notebook = await workspace.open(server.path, { allowEdits: true });
  return {
    ...parts,
    provider: new LayeredProvider(new OneJupyterNotebook(notebook), [new ReadBeforeWriteMiddleware()]),
    onAgentWrite: () => {},
    async [Symbol.asyncDispose]() {
      await workspace.close();
      await server[Symbol.asyncDispose]();
    },
  };
}
