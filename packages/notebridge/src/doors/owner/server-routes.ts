import { BridgeError } from '@notebridge/protocol/core/errors';
import type { ToolServer, ToolServers } from '@notebridge/protocol/core/tool-server';
import type { HubReport, ServerReport } from '../../catalog/describe-servers.js';
import type { HttpContext } from '../http/http-context.js';
import type { OwnerAnswers } from './owner-routes.js';
import { unknownServer } from './unknown-server.js';
import { reportFor } from './watched-report.js';

/** The servers, and what the owner may do with one. `describe`: describes all; starts and asks nothing. */
export function serverAnswers(servers: ToolServers, describe: () => HubReport) {
  /** Answers what became of it. */
  const after =
    (work: (server: ToolServer) => Promise<unknown>) =>
    async ({ params: [name = ''] }: HttpContext): Promise<ServerReport> => {
      const server = servers.get(name);
      if (server === undefined) throw unknownServer(name, servers);
      await work(server);
      const report = describe().servers.find((one) => one.name === name);
      if (report === undefined) throw unknownServer(name, servers);
      return report;
    };
  return {
    listServers: ({ principal }) => reportFor(principal, describe()),
    /** It is started if its tools are not known yet. */
    getServer: after((server) => server.listTools()),
    startServer: after((server) => control(server, 'start')),
    stopServer: after((server) => control(server, 'stop')),
    restartServer: after((server) => control(server, 'restart')),
  } satisfies Partial<OwnerAnswers>;
}

/** Rejects with `bad_params` for a server that has no program of its own or is disabled. */
async function control(server: ToolServer, action: 'start' | 'stop' | 'restart'): Promise<void> {
  const { name, status } = server;
  if (server.start === undefined || server.stop === undefined)
    throw new BridgeError('bad_params', `${JSON.stringify(name)} is built in, and has no program to ${action}.`);
  if (status === 'disabled')
    throw new BridgeError('bad_params', `${JSON.stringify(name)} is disabled in the config. Take "disabled" out there to have it started.`);
  if (action !== 'start') await server.stop(action === 'stop' ? 'its owner stopped it' : 'its owner started it anew');
  if (action !== 'stop') await server.start();
}
