import { messageOf } from '@notebridge/kit/message-of';
import { LabServers } from './lab-servers.js';
import { findLocalServers, type LabEnvironment } from './local-servers.js';
import { listExtensions } from './rival.js';

/** A Jupyter server of this user, and what agents lack there. */
export interface ServerLook {
  readonly baseUrl: string;
  readonly folder: string;
  readonly problem?: { readonly reason: string; readonly fix?: string };
}

/** What `--notebook jupyter` would find. Never rejects for a server. */
export async function lookAtServers(env?: LabEnvironment): Promise<ServerLook[]> {
  const servers = new LabServers({ target: {}, env });
  try {
    const local = await findLocalServers(env);
    return await Promise.all(local.map(async ({ baseUrl, folder }) => ({ baseUrl, folder, ...(await judge(servers, baseUrl)) })));
  } finally {
    servers.close();
  }
}

async function judge(servers: LabServers, baseUrl: string): Promise<Pick<ServerLook, 'problem'>> {
  try {
    const server = await servers.find(baseUrl);
    await server.request('api/status');
    if ((await listExtensions(server)).includes('@jupyter/collaboration-extension')) return {};
    const reason = 'it has no jupyter-collaboration, so open tabs show the edits of an agent only when they are reloaded';
    return { problem: { reason, fix: 'pip install jupyter-collaboration   # in its environment; then start it again' } };
  } catch (error) {
    return { problem: { reason: messageOf(error) } };
  }
}
