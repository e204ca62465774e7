import type { HubReport } from '../../catalog/describe-servers.js';
import type { ToolServers } from '../../core/tool-server.js';
import { printMessage } from '../../core/wire.js';
import type { PendingApprovals } from '../../grants/approvals/pending-approvals.js';
import { type Authenticate, Authenticator } from '../http/authenticator.js';
import type { HttpApp } from '../http/http-app.js';
import type { HttpContext } from '../http/http-context.js';
import { refuse } from '../http/refusal.js';
import { printApproval, receiveDecision } from './approval-routes.js';
import { answerBindingsInput } from './bindings-input.js';
import { unknownServer } from './unknown-server.js';

export interface OwnerDoorOptions {
  servers: ToolServers;
  /** Describes all servers. Starts and asks nothing. */
  describe: () => HubReport;
  /** The calls that wait for the owner. */
  pending: PendingApprovals;
  authenticate: Authenticate;
}

/** The path under which the owner's own commands ask for the hub's status. */
export const ownerPrefix = '/api/v1/hub';

/** Adds what only the owner may see, and decide: the status of each server, its process, why it failed; calls that wait. Call it before `listenHttp`. */
export function createOwnerDoor(app: HttpApp, { servers, describe, pending, authenticate }: OwnerDoorOptions): void {
  const authenticator = new Authenticator(authenticate, { onRefused: app.refused });
  const add = (path: string, answer: (context: HttpContext) => unknown, methods = ['GET', 'HEAD']): void => {
    const handle = async (context: HttpContext): Promise<void> => {
      const { principal, request } = context;
      if (principal.kind === 'owner') return context.sendJson(200, printMessage(await answer(context)));
      app.refused(request, { reason: 'wrong_door', grantId: principal.kind === 'grant' ? principal.grantId : undefined });
      context.refuse(forOwnerAlone);
    };
    app.addRoute({ methods, path: `${ownerPrefix}${path}`, authenticator, handle });
  };
  pending.isWatched = true;
  add('/approvals', () => ({ approvals: pending.list().map(printApproval) }));
  const decide = async ({ request, params: [id = ''] }: HttpContext) =>
    printApproval(pending.decide(id, await receiveDecision(request, app.maxBodyBytes)));
  add('/approvals/:id', decide, ['POST']);
  add('/servers', describe);
  add('/bindings', ({ request, query }) => answerBindingsInput(servers, { socket: request.socket, after: query.get('after') }));
  /** One server with its tools: it is started if they are not known yet. */
  add('/servers/:name', async ({ params: [name = ''] }) => {
    const server = servers.get(name);
    if (server === undefined) throw unknownServer(name, servers);
    await server.listTools();
    return describe().servers.find((report) => report.name === name);
  });
}

const forOwnerAlone = refuse(403, 'This is for the owner of the hub alone.');
