import { isJsonObject } from '@notebridge/protocol/json';
import { NotebookError } from '../model/errors.js';
import type { JupyterServer } from './jupyter-server.js';

/** The extension that keeps shared documents in another way than jupyter-collaboration; a server can have one of the two. */
const rivalExtension = '@jupyter-ai-contrib/server-documents';

/**
 * Refuses a server with jupyter-server-documents: its rooms and outputs are other ones, and a file written past them would be
 * overwritten by what its open tabs hold. Rejects with `not_supported`.
 */
export async function assertNoRival(server: JupyterServer): Promise<void> {
  if (!(await listExtensions(server)).some((name) => name === rivalExtension)) return;
  const what = `${server.name} shares its documents by jupyter-server-documents, which Notebridge does not speak.`;
  const next =
    'Install jupyter-collaboration in its place ("pip uninstall jupyter-server-documents", then "pip install jupyter-collaboration"), and start the server again.';
  throw new NotebookError('not_supported', `${what} Writing the file past it would be undone by its open tabs. ${next}`, {
    data: { server: server.name, extension: 'jupyter-server-documents' },
  });
}

/** The extensions of Lab's page, as the server has put them into it; none where it has no Lab. */
export async function listExtensions(server: JupyterServer): Promise<string[]> {
  const { status, text } = await server.read('lab');
  const [, json] = /<script id="jupyter-config-data" type="application\/json">\s*(\{[\s\S]*?\})\s*<\/script>/.exec(text) ?? [];
  if (status !== 200 || json === undefined) return [];
  const { federated_extensions: extensions } = JSON.parse(json) as { federated_extensions?: unknown };
  return Array.isArray(extensions) ? extensions.filter(isJsonObject).map(({ name }) => String(name)) : [];
}
