import { LabServers } from './lab-servers.js';
import { findLocalServers, type LabEnvironment, pathOnServer } from './local-servers.js';
import { toLabAddress } from './server-address.js';
import { createNotebook } from './server-contents.js';

/** The addresses by which servers of this user have the file. */
export async function findLabAddresses(file: string, env?: LabEnvironment): Promise<string[]> {
  const servers = await findLocalServers(env);
  return servers.flatMap((server) => {
    const path = pathOnServer(server, file);
    return path === undefined ? [] : [toLabAddress(server.baseUrl, path)];
  });
}

/** Makes an empty notebook on a server of this user. Rejects as making one does, and with why the server cannot be reached. */
export async function createOnServer({ baseUrl, path }: { baseUrl: string; path: string }, env?: LabEnvironment): Promise<void> {
  const servers = new LabServers({ target: { baseUrl }, env });
  try {
    await createNotebook(await servers.find(undefined), path);
  } finally {
    servers.close();
  }
}
