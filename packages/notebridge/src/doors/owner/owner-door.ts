import type { WatchedCluster } from '@notebridge/cluster/watched-cluster';
import { principalKey } from '@notebridge/protocol/core/principal';
import type { ToolServers } from '@notebridge/protocol/core/tool-server';
import { printMessage } from '@notebridge/protocol/core/wire';
import type { Redacting } from '@notebridge/protocol/util/redactor';
import { ownVersion } from '@notebridge/system/files/own-files';
import type { HubReport } from '../../catalog/describe-servers.js';
import type { WatchedConfig } from '../../config/config-edit.js';
import type { PendingApprovals } from '../../grants/approvals/pending-approvals.js';
import type { RecentCalls } from '../../recent/recent-calls.js';
import type { RecentLog } from '../../recent/recent-log.js';
import type { WatchedAgents } from '../../recent/watched-agents.js';
import { type Authenticate, Authenticator } from '../http/authenticator.js';
import type { HttpApp } from '../http/http-app.js';
import type { HttpContext } from '../http/http-context.js';
import { refuse } from '../http/refusal.js';
import { agentAnswers } from './agent-routes.js';
import { approvalAnswers } from './approval-routes.js';
import { answerBindingsInput } from './bindings-input.js';
import { callAnswers } from './call-routes.js';
import { OwnerEvents, watchServers } from './event-route.js';
import { grantAnswers, type OwnedGrants } from './grant-routes.js';
import { type DescribedHub, describeConfig, describeHub } from './hub-status.js';
import { answerLog } from './log-route.js';
import { notebookAnswers, type OwnedNotebooks } from './notebook-routes.js';
import { type NamedRoute, type OwnerAnswers, ownerPrefix, routesByPath } from './owner-routes.js';
import { readObject } from './read-object.js';
import { serverAnswers } from './server-routes.js';
import type { TimeShare } from './time-share.js';
import { reportFor } from './watched-report.js';

export interface OwnerDoorOptions {
  servers: ToolServers;
  /** Describes all servers. Starts and asks nothing. */
  describe: () => HubReport;
  /** The agents that are connected. */
  agents: WatchedAgents;
  /** The calls that wait for the owner. */
  pending: PendingApprovals;
  /** The calls that run, and the last ones. */
  calls: RecentCalls;
  /** The last lines of the log. */
  log: RecentLog;
  /** Takes the secrets out of what is shown of calls and the log. */
  redactor: Redacting & { past: Redacting };
  /** What else the status of the hub says. */
  hub: Pick<DescribedHub, 'configFile' | 'isCodeMode' | 'pid'>;
  grants: OwnedGrants;
  /** The notebooks of this hub, and those of other processes of the user. */
  watched: OwnedNotebooks;
  /** What the edits of the config did. */
  edits: WatchedConfig;
  /** Undefined: this hub is alone. */
  cluster: WatchedCluster | undefined;
  /** The owner, or the holder of a grant that only watches. */
  authenticate: Authenticate;
  /** How much of the hub's time those may use who only watch. */
  share: TimeShare;
}

/** Adds what the owner may see, those who watch in part, and what the owner decides: the status of the hub and of each server, calls, the log, calls that wait. Call it before `listenHttp`. */
export function createOwnerDoor(app: HttpApp, options: OwnerDoorOptions): void {
  const { pending, calls, redactor, authenticate, share } = options;
  pending.isWatched = true;
  calls.isOn = true;
  const authenticator = new Authenticator(authenticate, { onRefused: app.refused });
  const answers = createAnswers(options);

  /** Opens to the owner, and to those who watch what is for them. */
  const guard = (isForWatchers: boolean, answer: (context: HttpContext) => unknown) => async (context: HttpContext) => {
    const { principal, request } = context;
    if (principal.kind === 'owner') return void (await answer(context));
    if (principal.kind === 'grant' && isForWatchers) {
      const done = await share.spend(principalKey(principal), () => answer(context));
      return done === 'refused' ? context.refuse(asksTooMuch) : undefined;
    }
    app.refused(request, { reason: 'wrong_door', grantId: principal.kind === 'grant' ? principal.grantId : undefined });
    context.refuse(principal.kind === 'grant' ? notForWatchers : forOwnerAlone);
  };

  const handlerOf = ({ id, body: name, isExact, isForWatchers = false }: NamedRoute) => {
    const answer: (context: HttpContext, read: (wanted?: string) => Promise<never>) => unknown = answers[id];
    return guard(isForWatchers, async (context) => {
      const read = (wanted?: string) => (name && readObject(context, app.maxBodyBytes, { name, wanted })) as Promise<never>;
      const answered = await answer(context, read);
      if (typeof answered === 'string') return context.sendJson(200, answered);
      const text = printMessage(answered);
      // The names that callers and servers give themselves may hold a secret, too.
      context.sendJson(200, isExact === true ? text : redactor.redactOurs(text));
    });
  };

  for (const [path, routes] of routesByPath()) {
    const handlers = new Map<string, ReturnType<typeof handlerOf>>();
    for (const route of routes) {
      const handler = handlerOf(route);
      handlers.set(route.method, handler);
      if (route.method === 'GET' && route.isWithoutHead !== true) handlers.set('HEAD', handler);
    }
    app.addRoute({
      methods: [...handlers.keys()],
      path: `${ownerPrefix}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
      authenticator,
      handle: (context) => handlers.get(context.request.method ?? '')?.(context),
      isAnsweredToTheEnd: routes.some((route) => route.isForWatchers === true || route.isAnsweredToTheEnd === true),
    });
  }
  const events = createEvents(options);
  const handle = guard(true, (context) => events.answer(context));
  app.addRoute({ methods: ['GET'], path: `${ownerPrefix}/events`, authenticator, handle, isAnsweredToTheEnd: true });
  addDescription(app);
}

function createAnswers(options: OwnerDoorOptions): OwnerAnswers {
  const { servers, describe, pending, calls, redactor, hub, grants, edits } = options;
  const status = { ...options, ...hub, store: grants.store };
  return {
    getHub: ({ principal }) => reportFor(principal, describeHub(status, principal.kind === 'owner' ? 'owner' : 'watcher')),
    ...serverAnswers(servers, describe),
    ...callAnswers(calls, redactor.past),
    listLog: (context) => answerLog(options.log, context, redactor.past),
    ...approvalAnswers(pending),
    ...grantAnswers(grants, servers),
    ...agentAnswers(options.agents, grants.store),
    getConfig: () => describeConfig(edits, hub.configFile),
    ...notebookAnswers(options.watched),
    getBindingsInput: (context) => answerBindingsInput(servers, context),
  };
}

function createEvents({ servers, agents, calls, redactor, watched, edits, cluster, authenticate }: OwnerDoorOptions): OwnerEvents {
  const lists = {
    servers: watchServers(servers),
    agents: (listener: () => void) => agents.changed.add(listener),
    config: (listener: () => void) => edits.subscribe(listener),
    notebooks: (listener: () => void) => watched.notebooks()?.subscribe(listener) ?? (() => {}),
    ...(cluster !== undefined && { cluster: (listener: () => void) => cluster.subscribe(listener) }),
  };
  return new OwnerEvents({ calls, lists, authenticate, redactor: redactor.past });
}

/** The description of the routes, for anybody: of this hub it tells the version alone. It is loaded with the first request for it. */
function addDescription(app: HttpApp): void {
  let text: string | undefined;
  const handle = async (context: HttpContext): Promise<void> => {
    const { createOwnerOpenApi } = await import('./owner-openapi.js');
    text ??= printMessage(createOwnerOpenApi(ownVersion()));
    context.sendJson(200, text);
  };
  app.addRoute({ methods: ['GET', 'HEAD'], path: `${ownerPrefix}/openapi.json`, handle });
}

const notForWatchers = refuse(403, 'A grant that only watches does not open this. It is for the owner of the hub alone.');
const asksTooMuch = refuse(429, 'This grant asks for more than a hub has time for. Ask less often.', ['retry-after', '2']);
const forOwnerAlone = refuse(403, 'This is for the owner of the hub alone.');
