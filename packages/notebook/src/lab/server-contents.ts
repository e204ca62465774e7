import { isJsonObject } from '@notebridge/kit/json';
import { NotebookError } from '../model/errors.js';
import { encodePath, type JupyterServer } from './jupyter-server.js';

export interface Folder {
  readonly notebooks: readonly { readonly path: string; readonly last_modified: string }[];
  readonly folders: readonly string[];
}

/** What is in a folder of the server. Rejects with `no_notebook` where there is no such folder. */
export async function listFolder(server: JupyterServer, folder: string): Promise<Folder> {
  const { status, body } = await server.ask(`api/contents/${encodePath(folder)}`, { query: { type: 'directory' } });
  const entries = isJsonObject(body) && Array.isArray(body.content) ? body.content.filter(isJsonObject) : undefined;
  if (status !== 200 || !entries) throw new NotebookError('no_notebook', `${server.name} has no folder "${folder}".`, { data: { folder } });
  const sorted = entries.sort((a, b) => String(a.path).localeCompare(String(b.path)));
  return {
    notebooks: sorted.flatMap(({ type, path, last_modified }) =>
      type === 'notebook' ? [{ path: String(path), last_modified: String(last_modified) }] : [],
    ),
    folders: sorted.flatMap(({ type, path }) => (type === 'directory' ? [String(path)] : [])),
  };
}

/** Rejects with `no_notebook`. */
export async function assertNotebookThere(server: JupyterServer, path: string): Promise<void> {
  const { status, body } = await server.ask(`api/contents/${encodePath(path)}`, { query: { content: '0' } });
  if (status === 200 && isJsonObject(body) && body.type === 'notebook') return;
  throw new NotebookError(
    'no_notebook',
    `${server.name} has no notebook "${path}". list_notebooks lists those that are; "create": true makes one.`,
  );
}

/** Makes an empty notebook. Rejects with `bad_arguments` for a path where something is already, `no_notebook` for a folder that is not there. */
export async function createNotebook(server: JupyterServer, path: string): Promise<void> {
  const { status } = await server.ask(`api/contents/${encodePath(path)}`, { query: { content: '0' } });
  if (status === 200) throw new NotebookError('bad_arguments', `${server.name} has "${path}" already. Leave "create" out to use it.`);
  const folder = path.split('/').slice(0, -1).join('/');
  if (folder !== '') await listFolder(server, folder);
  const content = { cells: [], metadata: {}, nbformat: 4, nbformat_minor: 5 };
  await server.request(`api/contents/${encodePath(path)}`, { method: 'PUT', body: { type: 'notebook', format: 'json', content } });
}
