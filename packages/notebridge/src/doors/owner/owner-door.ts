import type { HubReport } from '../../catalog/describe-servers.js';
import type { WatchedCluster } from '../../cluster/watched-cluster.js';
import type { WatchedConfig } from '../../config/config-edit.js';
import { BridgeError } from '../../core/errors.js';
import { principalKey } from '../../core/principal.js';
import type { ToolServers } from '../../core/tool-server.js';
import { printMessage } from '../../core/wire.js';
import type { PendingApprovals } from '../../grants/approvals/pending-approvals.js';
import type { RecentCalls } from '../../recent/recent-calls.js';
import type { RecentLog } from '../../recent/recent-log.js';
import type { SeenCall } from '../../recent/seen-call.js';
import type { WatchedAgents } from '../../recent/watched-agents.js';
import { ownVersion } from '../../state/own-files.js';
import type { Redacting } from '../../util/redactor.js';
import { type Authenticate, Authenticator } from '../http/authenticator.js';
import type { HttpApp } from '../http/http-app.js';
import type { HttpContext } from '../http/http-context.js';
import { refuse } from '../http/refusal.js';
import { AgentRoutes } from './agent-routes.js';
import { printApproval, receiveDecision } from './approval-routes.js';
import { answerBindingsInput } from './bindings-input.js';
import { describeCall, findCalls, printCall } from './call-routes.js';
import { toDescribed } from './cluster-status.js';
import { describeConfig } from './config-route.js';
import { OwnerEvents, watchServers } from './event-route.js';
import { GrantRoutes, type GrantRoutesOptions } from './grant-routes.js';
import { type DescribedHub, describeHub } from './hub-status.js';
import { answerLog } from './log-route.js';
import { NotebookRoutes, type NotebookRoutesOptions } from './notebook-routes.js';
import { createOwnerOpenApi } from './owner-openapi.js';
import { controlServer, serverActions } from './server-routes.js';
import type { TimeShare } from './time-share.js';
import { unknownServer } from './unknown-server.js';
import { reportFor } from './watched-report.js';

export interface OwnerDoorOptions {
  servers: ToolServers;
  /** Describes all servers. Starts and asks nothing. */
  describe: () => HubReport;
  /** Those that are connected. */
  agents: WatchedAgents;
  /** The calls that wait for the owner. */
  pending: PendingApprovals;
  /** Those that run, and the last ones. */
  calls: RecentCalls;
  /** The last lines of the log. */
  log: RecentLog;
  /** Takes the secrets out of what is shown of calls and the log. */
  redactor: Redacting & { past: Redacting };
  /** What else the status of the hub says. */
  hub: Pick<DescribedHub, 'configFile' | 'isCodeMode' | 'pid'>;
  grants: Pick<GrantRoutesOptions, 'store' | 'admission'>;
  /** Those of this hub, and those of other processes of the user. */
  watched: Pick<NotebookRoutesOptions, 'notebooks' | 'elsewhere'>;
  /** What the edits of the config did. */
  edits: WatchedConfig;
  /** Undefined: this hub is alone. */
  cluster: WatchedCluster | undefined;
  /** The owner, or the holder of a grant that only watches. */
  authenticate: Authenticate;
  /** How much of the hub's time those may use who only watch. */
  share: TimeShare;
}

/** The path under which the owner's own commands ask for the hub's status. */
export const ownerPrefix = '/api/v1/hub';

/** Adds what the owner may see, those who watch in part, and what the owner decides: the status of the hub and of each server, calls, the log, calls that wait. Call it before `listenHttp`. */
export function createOwnerDoor(
  app: HttpApp,
  { servers, describe, agents, pending, calls, log, redactor, hub, grants, watched, edits, cluster, authenticate, share }: OwnerDoorOptions,
): void {
  const authenticator = new Authenticator(authenticate, { onRefused: app.refused });
  const addRoute = (path: string, answer: (context: HttpContext) => unknown, methods: readonly string[]): void => {
    const handle = async (context: HttpContext): Promise<void> => {
      const { principal, request } = context;
      if (principal.kind === 'owner') return void (await answer(context));
      if (principal.kind === 'grant' && forWatchers.has(path)) {
        const done = await share.spend(principalKey(principal), () => answer(context));
        return done === 'refused' ? context.refuse(asksTooMuch) : undefined;
      }
      app.refused(request, { reason: 'wrong_door', grantId: principal.kind === 'grant' ? principal.grantId : undefined });
      context.refuse(principal.kind === 'grant' ? notForWatchers : forOwnerAlone);
    };
    const isAnsweredToTheEnd = forWatchers.has(path) || toTheEnd.has(path);
    app.addRoute({ methods, path: `${ownerPrefix}${path}`, authenticator, handle, isAnsweredToTheEnd });
  };
  const addExact = (path: string, answer: (context: HttpContext) => unknown, methods = ['GET', 'HEAD']): void =>
    addRoute(path, async (context) => context.sendJson(200, printMessage(await answer(context))), methods);
  /** What callers and servers say of themselves may hold a secret, too. */
  const add = (path: string, answer: (context: HttpContext) => unknown, methods = ['GET', 'HEAD']): void =>
    addRoute(path, async (context) => context.sendJson(200, redactor.redactOurs(printMessage(await answer(context)))), methods);
  const addByMethod = (path: string, answers: { readonly [method: string]: (context: HttpContext) => unknown }): void =>
    addExact(path, (context) => answers[context.request.method ?? '']?.(context), Object.keys(answers));
  const description = printMessage(createOwnerOpenApi({ version: ownVersion(), prefix: ownerPrefix }));
  // Of this hub it tells whoever asks the version alone.
  app.addRoute({ methods: ['GET', 'HEAD'], path: `${ownerPrefix}/openapi.json`, handle: (context) => context.sendJson(200, description) });
  pending.isWatched = true;
  calls.isOn = true;
  const status = {
    describe,
    pending,
    calls,
    countGrants: () => grants.store.list().length,
    edits,
    cluster: toDescribed(cluster, grants.store),
    ...hub,
  };
  add('', ({ principal }) => reportFor(principal, describeHub(status, principal.kind === 'owner' ? 'owner' : 'watcher')));
  addRoute('/logs', async (context) => context.sendJson(200, await answerLog(log, context, redactor.past)), ['GET']);
  add('/approvals', () => ({ approvals: pending.list().map(printApproval) }));
  const decide = async (context: HttpContext) =>
    printApproval(pending.decide(context.params[0] ?? '', await receiveDecision(context, app.maxBodyBytes)));
  const showWhole = ({ params: [id = ''] }: HttpContext) => printApproval(pending.show(id));
  add('/approvals/:id', (context) => (context.request.method === 'POST' ? decide(context) : showWhole(context)), ['GET', 'HEAD', 'POST']);
  add('/servers', ({ principal }) => reportFor(principal, describe()));
  addExact('/bindings', ({ request, query }) => answerBindingsInput(servers, { socket: request.socket, after: query.get('after') }));
  /** One server with its tools: it is started if they are not known yet. */
  add('/servers/:name', async ({ params: [name = ''] }) => {
    const server = servers.get(name);
    if (server === undefined) throw unknownServer(name, servers);
    await server.listTools();
    return describe().servers.find((report) => report.name === name);
  });
  for (const action of serverActions)
    add(`/servers/:name/${action}`, (context) => controlServer(action, context, { servers, describe }), ['POST']);
  const grantRoutes = new GrantRoutes({ ...grants, servers, maxBodyBytes: app.maxBodyBytes });
  addByMethod('/grants', { GET: () => grantRoutes.list(), POST: (context) => grantRoutes.issue(context) });
  add('/grants/preview', (context) => grantRoutes.preview(context), ['POST']);
  addExact('/grants/:id/renew', (context) => grantRoutes.renew(context), ['POST']);
  add('/grants/:id', (context) => grantRoutes.revoke(context), ['DELETE']);
  addRoute('/config', (context) => context.sendJson(200, redactor.redactOurs(printMessage(describeConfig(edits, hub.configFile)))), [
    'GET',
  ]);
  const agentRoutes = new AgentRoutes({ agents, store: grants.store });
  add('/agents', () => agentRoutes.list());
  add('/agents/:id', (context) => agentRoutes.disconnect(context), ['DELETE']);
  const notebookRoutes = new NotebookRoutes({ ...watched, maxBodyBytes: app.maxBodyBytes });
  addNotebookRoutes(add, notebookRoutes);
  // A secret that is meant to be read.
  addExact('/notebooks/:id/address', (context) => notebookRoutes.newAddress(context), ['POST']);
  const lists = {
    servers: watchServers(servers),
    agents: (listener: () => void) => agents.changed.add(listener),
    config: (listener: () => void) => edits.subscribe(listener),
    notebooks: (listener: () => void) => watched.notebooks()?.subscribe(listener) ?? (() => {}),
    ...(cluster !== undefined && { cluster: (listener: () => void) => cluster.subscribe(listener) }),
  };
  const events = new OwnerEvents({ calls, lists, authenticate, redactor: redactor.past });
  addRoute('/events', (context) => events.answer(context), ['GET']);
  add('/calls', ({ query }) => findCalls(calls, query));
  addRoute('/calls/:id', (context) => context.sendJson(200, printCall(callOf(context, calls), redactor.past)), ['GET', 'HEAD']);
  add('/calls/:id/cancel', (context) => describeCall(calls.cancel(callOf(context, calls).id)), ['POST']);
}

type AddRoute = (path: string, answer: (context: HttpContext) => unknown, methods?: string[]) => void;

function addNotebookRoutes(add: AddRoute, routes: NotebookRoutes): void {
  add('/notebooks', () => routes.list());
  add('/notebooks/elsewhere', () => routes.listElsewhere());
  add('/notebooks/elsewhere/:id/release', (context) => routes.releaseElsewhere(context), ['POST']);
  add('/notebooks/elsewhere/:id/end', (context) => routes.endElsewhere(context), ['POST']);
  for (const [name, action] of Object.entries(routes.actions))
    add(`/notebooks/:id/${name}`, (context) => routes.perform(action, context), ['POST']);
}

function callOf({ params: [id = ''] }: HttpContext, calls: RecentCalls): SeenCall {
  const call = calls.find(id);
  if (call !== undefined) return call;
  throw new BridgeError('bad_params', `There is no call ${JSON.stringify(id)} (any more). See: ${ownerPrefix}/calls`);
}

/** What a grant that only watches opens too: nothing that was sent or answered, no log, no token, and nothing that starts or changes anything. */
const forWatchers: ReadonlySet<string> = new Set(['', '/servers', '/calls', '/events']);

/**
 * Besides those of watchers, to whom a hub that ends is to say so: what the owner decides about what still runs, a grant that is revoked
 * included, and how it is found. These start nothing in this hub.
 */
const toTheEnd: ReadonlySet<string> = new Set([
  '/agents',
  '/agents/:id',
  '/approvals',
  '/approvals/:id',
  '/calls/:id',
  '/calls/:id/cancel',
  '/grants',
  '/grants/:id',
  '/grants/:id/renew',
  '/logs',
  '/notebooks',
  '/notebooks/:id/answer',
  '/notebooks/:id/stop',
]);

const notForWatchers = refuse(403, 'A grant that only watches does not open this. It is for the owner of the hub alone.');
const asksTooMuch = refuse(429, 'This grant asks for more than a hub has time for. Ask less often.', ['retry-after', '2']);
const forOwnerAlone = refuse(403, 'This is for the owner of the hub alone.');
