import type { ServerReport } from '../../catalog/describe-servers.js';
import { BridgeError } from '../../core/errors.js';
import type { ToolServer, ToolServers } from '../../core/tool-server.js';
import type { HttpContext } from '../http/http-context.js';
import { unknownServer } from './unknown-server.js';

/** What the owner may do with a server. */
export type ServerAction = 'start' | 'stop' | 'restart';
export const serverActions: readonly ServerAction[] = ['start', 'stop', 'restart'];

/** Answers what became of it. Rejects with `unknown_server`, or `bad_params` for one that has no program of its own or is disabled. */
export async function controlServer(
  action: ServerAction,
  { params: [name = ''] }: HttpContext,
  { servers, describe }: { servers: ToolServers; describe: () => { servers: ServerReport[] } },
): Promise<ServerReport | undefined> {
  const server = servers.get(name);
  if (server === undefined) throw unknownServer(name, servers);
  await control(action, server);
  return describe().servers.find((report) => report.name === name);
}

async function control(action: ServerAction, server: ToolServer): Promise<void> {
  const { name, status } = server;
  if (server.start === undefined || server.stop === undefined)
    throw new BridgeError('bad_params', `${JSON.stringify(name)} is built in, and has no program to ${action}.`);
  if (status === 'disabled')
    throw new BridgeError('bad_params', `${JSON.stringify(name)} is disabled in the config. Take "disabled" out there to have it started.`);
  if (action !== 'start') await server.stop(action === 'stop' ? 'its owner stopped it' : 'its owner started it anew');
  if (action !== 'stop') await server.start();
}
