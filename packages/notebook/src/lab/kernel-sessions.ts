import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { NotebookError } from '../model/errors.js';
import type { JupyterServer } from './jupyter-server.js';

/** A notebook's session on the server: its kernel, which Lab and we share. */
export interface KernelSession {
  readonly id: string;
  readonly path: string;
  readonly kernelId: string;
  readonly kernelName: string;
}

export interface KernelSpec {
  readonly name: string;
  readonly displayName: string;
  readonly language: string;
}

/** All sessions of notebooks. Consoles and terminals are none. */
export async function listKernelSessions(server: JupyterServer): Promise<KernelSession[]> {
  const found = await server.request('api/sessions');
  return Array.isArray(found) ? found.flatMap((session) => toSession(session) ?? []) : [];
}

export async function findKernelSession(server: JupyterServer, path: string): Promise<KernelSession | undefined> {
  return (await listKernelSessions(server)).find((session) => session.path === path);
}

/** The session that is known, if it is there still, else that of the notebook, else a new one. `kernelName`: empty for the server's default. */
export async function enterKernelSession(
  server: JupyterServer,
  { known, path, kernelName }: { known: KernelSession | undefined; path: string; kernelName: string },
): Promise<{ session: KernelSession; isNew: boolean }> {
  const found = (known && (await readKernelSession(server, known.id))) ?? (await findKernelSession(server, path));
  const session = found ?? (await createKernelSession(server, path, kernelName === '' ? undefined : kernelName));
  return { session, isNew: found === undefined };
}

/** A session with a kernel for the notebook. If somebody was faster, the server answers with theirs. */
async function createKernelSession(server: JupyterServer, path: string, kernelName: string | undefined): Promise<KernelSession> {
  const body = {
    path,
    type: 'notebook',
    name: path.split('/').at(-1) ?? path,
    kernel: kernelName === undefined ? {} : { name: kernelName },
  };
  const { status, body: made } = await server.ask('api/sessions', { method: 'POST', body });
  const session = toSession(made);
  if (status < 300 && session) return session;
  const said = isJsonObject(made) && typeof made.message === 'string' ? made.message : `status ${status}`;
  throw new NotebookError('kernel_failed', `The Jupyter server could not start a kernel for "${path}": ${said}`, { data: { path } });
}

/** Undefined for one that is not there any more. */
export async function readKernelSession(server: JupyterServer, id: string): Promise<KernelSession | undefined> {
  const { status, body } = await server.ask(`api/sessions/${encodeURIComponent(id)}`);
  return status === 200 ? toSession(body) : undefined;
}

/** The kernels that the server can start, and its default. */
export async function readKernelSpecs(server: JupyterServer): Promise<{ specs: readonly KernelSpec[]; standard: string | undefined }> {
  const found = await server.request('api/kernelspecs');
  if (!isJsonObject(found) || !isJsonObject(found.kernelspecs)) return { specs: [], standard: undefined };
  const specs = Object.entries(found.kernelspecs).map(([name, entry]) => {
    const spec: JsonObject = isJsonObject(entry) && isJsonObject(entry.spec) ? entry.spec : {};
    return { name, displayName: String(spec.display_name ?? name), language: String(spec.language ?? '').toLowerCase() };
  });
  return { specs, standard: typeof found.default === 'string' ? found.default : undefined };
}

function toSession(session: unknown): KernelSession | undefined {
  if (!isJsonObject(session) || !isJsonObject(session.kernel) || session.type !== 'notebook') return undefined;
  const { id, path, kernel } = session;
  if (typeof id !== 'string' || typeof path !== 'string' || typeof kernel.id !== 'string') return undefined;
  // jupyter-collaboration before 3 puts the name of its drive before the path.
  return { id, path: path.replace(/^RTC:/, ''), kernelId: kernel.id, kernelName: String(kernel.name ?? '') };
}

/** Whether the notebook's kernel runs code, whoever's; undefined where it has none. */
export async function isKernelBusy(server: JupyterServer, path: string): Promise<boolean | undefined> {
  const session = await findKernelSession(server, path);
  return session && isBusy(server, session.kernelId);
}

/** Undefined where the server does not say. */
export async function isBusy(server: JupyterServer, kernelId: string): Promise<boolean | undefined> {
  const model = await server.request(`api/kernels/${encodeURIComponent(kernelId)}`);
  return isJsonObject(model) ? model.execution_state === 'busy' : undefined;
}

export async function postToKernel(server: JupyterServer, kernelId: string, action: 'interrupt' | 'restart'): Promise<void> {
  await server.request(`api/kernels/${encodeURIComponent(kernelId)}/${action}`, { method: 'POST', body: {} });
}
