import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { encodePath, type JupyterServer } from './jupyter-server.js';

const configName = /^\.?jupytext(\.\w+)?$/;

/**
 * Whether jupytext keeps a notebook together with a text file: it follows what is saved as a notebook, and nothing else. The notebook says
 * so itself, or a configuration in its folder or above.
 */
export async function isPaired(server: JupyterServer, path: string, metadata: JsonObject): Promise<boolean> {
  const { jupytext } = metadata;
  if (isJsonObject(jupytext) && typeof jupytext.formats === 'string') return jupytext.formats.includes(',');
  const folders = path.split('/').slice(0, -1);
  const above = Array.from({ length: folders.length + 1 }, (_, depth) => folders.slice(0, depth).join('/'));
  return (await Promise.all(above.map((folder) => hasConfig(server, folder)))).includes(true);
}

async function hasConfig(server: JupyterServer, folder: string): Promise<boolean> {
  const names = await server.ask(`api/contents/${encodePath(folder)}`, { query: { type: 'directory' } });
  const entries = isJsonObject(names.body) && Array.isArray(names.body.content) ? names.body.content.filter(isJsonObject) : [];
  if (entries.some(({ name }) => configName.test(String(name)))) return true;
  const project = entries.find(({ name }) => name === 'pyproject.toml');
  if (!project) return false;
  const { body } = await server.ask(`api/contents/${encodePath(String(project.path))}`, { query: { type: 'file', format: 'text' } });
  return isJsonObject(body) && typeof body.content === 'string' && body.content.includes('[tool.jupytext');
}
