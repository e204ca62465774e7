import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { NotebookError } from '../model/errors.js';
import { encodePath, type JupyterServer } from './jupyter-server.js';

export interface Folder {
  readonly notebooks: readonly { readonly path: string; readonly last_modified: string }[];
  readonly folders: readonly string[];
}

/** What the server says of a file or folder. `query`: what of it, in the words of Jupyter's contents API. */
export async function readContents(
  server: JupyterServer,
  path: string,
  query: { [name: string]: string },
): Promise<{ status: number; body: JsonObject }> {
  const { status, body } = await server.ask(`api/contents/${encodePath(path)}`, { query });
  return { status, body: isJsonObject(body) ? body : {} };
}

export async function writeContents(server: JupyterServer, path: string, body: JsonObject): Promise<void> {
  await server.request(`api/contents/${encodePath(path)}`, { method: 'PUT', body });
}

export async function isOnServer(server: JupyterServer, path: string): Promise<boolean> {
  return (await readContents(server, path, { content: '0' })).status !== 404;
}

/** What is in a folder of the server. Rejects with `no_notebook` where there is no such folder. */
export async function listFolder(server: JupyterServer, folder: string): Promise<Folder> {
  const entries = await entriesOf(server, folder);
  if (!entries) throw new NotebookError('no_notebook', `${server.name} has no folder "${folder}".`, { data: { folder } });
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
  const { status, body } = await readContents(server, path, { content: '0' });
  if (status === 200 && body.type === 'notebook') return;
  throw new NotebookError(
    'no_notebook',
    `${server.name} has no notebook "${path}". list_notebooks lists those that are; "create": true makes one.`,
  );
}

/** Makes an empty notebook. Rejects with `bad_arguments` for a path where something is already, `no_notebook` for a folder that is not there. */
export async function createNotebook(server: JupyterServer, path: string): Promise<void> {
  const { status } = await readContents(server, path, { content: '0' });
  if (status === 200) throw new NotebookError('bad_arguments', `${server.name} has "${path}" already. Leave "create" out to use it.`);
  const folder = path.split('/').slice(0, -1).join('/');
  if (folder !== '') await listFolder(server, folder);
  const content = { cells: [], metadata: {}, nbformat: 4, nbformat_minor: 5 };
  await writeContents(server, path, { type: 'notebook', format: 'json', content });
}

/** Undefined where there is no such folder. */
async function entriesOf(server: JupyterServer, folder: string): Promise<JsonObject[] | undefined> {
  const { status, body } = await readContents(server, folder, { type: 'directory' });
  return status === 200 && Array.isArray(body.content) ? body.content.filter(isJsonObject) : undefined;
}

const jupytextConfig = /^\.?jupytext(\.\w+)?$/;

/**
 * Whether jupytext keeps a notebook together with a text file: it follows what is saved as a notebook, and nothing else. The notebook says
 * so itself, or a configuration in its folder or above.
 */
export async function isPaired(server: JupyterServer, path: string, { jupytext }: JsonObject): Promise<boolean> {
  if (isJsonObject(jupytext) && typeof jupytext.formats === 'string') return jupytext.formats.includes(',');
  const folders = path.split('/').slice(0, -1);
  const above = Array.from({ length: folders.length + 1 }, (_, depth) => folders.slice(0, depth).join('/'));
  return (await Promise.all(above.map((folder) => hasJupytextConfig(server, folder)))).includes(true);
}

async function hasJupytextConfig(server: JupyterServer, folder: string): Promise<boolean> {
  const entries = (await entriesOf(server, folder)) ?? [];
  if (entries.some(({ name }) => jupytextConfig.test(String(name)))) return true;
  const project = entries.find(({ name }) => name === 'pyproject.toml');
  if (!project) return false;
  const { body } = await readContents(server, String(project.path), { type: 'file', format: 'text' });
  return typeof body.content === 'string' && body.content.includes('[tool.jupytext');
}
