import type { HttpContext } from '../http/http-context.js';
import type { OwnerBody, OwnerBodyName } from './owner-schemas.js';
import { boundedNumber, type QueryPart, word } from './read-query.js';

/** The path under which the owner's routes stand. */
export const ownerPrefix = '/api/v1/hub';

/** One route of the owner's API: how it is served, and what its description says. */
export interface OwnerRoute {
  method: 'GET' | 'POST' | 'DELETE';
  /** Below the prefix. */
  path: string;
  summary: string;
  /** The schema of the answer, by its name. */
  answer: OwnerBodyName;
  /** The schema of the body, by its name. */
  body?: OwnerBodyName;
  query?: { readonly [name: string]: QueryPart };
  /** A grant that only watches opens it, too: nothing that was sent or answered, no log, no token, and nothing that starts or changes anything. */
  isForWatchers?: boolean;
  /**
   * Answered while the hub ends, as are those for watchers: what the owner decides about what still runs, a grant that is revoked included,
   * and how it is found. These start nothing in this hub.
   */
  isAnsweredToTheEnd?: boolean;
  /** No secret is taken out of its answer: one is meant to be read there, or the answer has to stay what it is. */
  isExact?: boolean;
  isWithoutHead?: boolean;
}

const route = <
  const Method extends OwnerRoute['method'],
  const Answer extends OwnerBodyName,
  const More extends Omit<OwnerRoute, 'method' | 'path' | 'summary' | 'answer'>,
>(
  method: Method,
  path: string,
  summary: string,
  answer: Answer,
  more: More = {} as More,
) => ({ ...more, method, path, summary, answer });

const watched = { isForWatchers: true } as const;
const toTheEnd = { isAnsweredToTheEnd: true } as const;

export const callQuery = {
  server: word('Calls of this server.'),
  tool: word('Calls of this tool.'),
  door: word('Calls that came in at this door.'),
  outcome: word('As in the audit; `running`; `failed` for all but `ok`.'),
  caller: word('`owner`, `anonymous`, or the id of a grant.'),
  parent: word('The call whose code made them.'),
  limit: boundedNumber('At most so many. Default 100.', 1, 1000),
  before: word('Those before the call with this `id`: the next page.'),
};
export const logQuery = {
  server: word('What this server printed, and what was said of it.'),
  call: word('What belongs to the call with this `call_id`.'),
  level: word('And above.', 'info', 'warn', 'error'),
  limit: boundedNumber('At most so many. Default 200.', 1, 2000),
  after: boundedNumber('Those behind the line with this `id`; waits up to 25 s for one.', 0, Number.MAX_SAFE_INTEGER),
};
const bindingsQuery = { after: word('The `tag` that the caller has; waits up to 25 s until it is another one.') };

/** By the names that clients call them by. */
const ownerRoutes = {
  getHub: route('GET', '', 'The hub on one screen', 'Hub', watched),
  listServers: route('GET', '/servers', 'All servers with the tools that are known; starts none', 'HubReport', watched),
  getServer: route('GET', '/servers/{name}', 'One server with its tools; started if they are not known', 'Server'),
  startServer: route('POST', '/servers/{name}/start', 'Start a server', 'Server'),
  stopServer: route('POST', '/servers/{name}/stop', 'Stop a server with its process; its next call starts it', 'Server'),
  restartServer: route('POST', '/servers/{name}/restart', 'Stop a server and start it', 'Server'),
  listCalls: route('GET', '/calls', 'The calls that run and the last 1,000 that ended, the newest first', 'Calls', {
    ...watched,
    query: callQuery,
  }),
  getCall: route('GET', '/calls/{id}', 'One call with what was sent and answered', 'WholeCall', toTheEnd),
  cancelCall: route('POST', '/calls/{id}/cancel', 'End a call that runs, as its caller could', 'Call', toTheEnd),
  listLog: route('GET', '/logs', 'The last lines of the log, the oldest first', 'Log', {
    ...toTheEnd,
    query: logQuery,
    isWithoutHead: true,
  }),
  listApprovals: route('GET', '/approvals', 'The calls that wait for the owner', 'Approvals', toTheEnd),
  showApproval: route('GET', '/approvals/{id}', 'A call that waits, with its arguments whole', 'Approval', toTheEnd),
  decideApproval: route('POST', '/approvals/{id}', 'Allow or deny a call that waits', 'Approval', { ...toTheEnd, body: 'Decision' }),
  listGrants: route('GET', '/grants', 'The live grants, without tokens', 'Grants', { ...toTheEnd, isExact: true, isWithoutHead: true }),
  issueGrant: route('POST', '/grants', 'Issue a grant; the answer alone has its token', 'IssuedGrant', {
    ...toTheEnd,
    body: 'GrantTerms',
    isExact: true,
  }),
  previewGrant: route('POST', '/grants/preview', 'What a grant would open; issues none', 'GrantPreview', { body: 'GrantScope' }),
  renewGrant: route('POST', '/grants/{id}/renew', 'A new token for a grant; the answer alone has it', 'IssuedGrant', {
    ...toTheEnd,
    body: 'Renewal',
    isExact: true,
  }),
  revokeGrant: route('DELETE', '/grants/{id}', 'Revoke a grant', 'Revoked', toTheEnd),
  listAgents: route('GET', '/agents', 'The agents that are connected, the last first', 'Agents', toTheEnd),
  disconnectAgent: route('DELETE', '/agents/{id}', 'End the session of a legacy agent over HTTP', 'Disconnected', toTheEnd),
  getConfig: route('GET', '/config', 'What the last edit of the config did, and why the file is not used', 'Config', {
    isWithoutHead: true,
  }),
  listNotebooks: route('GET', '/notebooks', 'The notebooks that this hub holds', 'Notebooks', toTheEnd),
  newNotebookAddress: route('POST', '/notebooks/{id}/address', 'An address that opens a window, once', 'Address', { isExact: true }),
  releaseNotebook: route('POST', '/notebooks/{id}/release', 'End the hold of whichever agent has it', 'Holder'),
  setMayHold: route('POST', '/notebooks/{id}/lease', 'Whether an agent may write or only looks', 'OfLease', { body: 'MayHold' }),
  answerAgent: route('POST', '/notebooks/{id}/answer', 'Give the notebook to the agent that asks for it, or not', 'OfLease', {
    ...toTheEnd,
    body: 'LeaseAnswer',
  }),
  disconnectPage: route('POST', '/notebooks/{id}/disconnect', 'Hang up on the page', 'Disconnected'),
  undoChange: route('POST', '/notebooks/{id}/undo', 'Take the last change of an agent back; 409 where it cannot be', 'Undone'),
  stopRuns: route('POST', '/notebooks/{id}/stop', 'End what runs, and forget what waits', 'NotebookState', toTheEnd),
  restartKernel: route('POST', '/notebooks/{id}/restart', 'End the kernel and start another', 'NotebookState'),
  listElsewhere: route('GET', '/notebooks/elsewhere', 'The notebooks that other processes of the user hold', 'Processes'),
  releaseElsewhere: route('POST', '/notebooks/elsewhere/{id}/release', 'End the hold of whichever agent has it', 'Holder'),
  endElsewhere: route('POST', '/notebooks/elsewhere/{id}/end', 'Save and end it; 409 where something would be lost', 'Ended', {
    body: 'End',
  }),
  getBindingsInput: route('GET', '/bindings', 'What bindings are made from', 'BindingsInput', { query: bindingsQuery, isExact: true }),
};

/** The route of the console's own door by which its addresses are given out. */
export const consoleLinkRoute = route('POST', '/console/links', 'An address that opens the console, once', 'ConsoleLink');

type Routes = typeof ownerRoutes;
type BodyOf<Route> = Route extends { readonly body: infer Name extends OwnerBodyName } ? OwnerBody<Name> : never;

/** Answers with the body, or with that as it is printed. `read` gives the body of the request, see `readObject`. */
type Handler<Route extends OwnerRoute> = (
  context: HttpContext,
  read: (wanted?: string) => Promise<BodyOf<Route>>,
) => OwnerBody<Route['answer']> | string | Promise<OwnerBody<Route['answer']> | string>;

/** The answers to all routes, by their names. */
export type OwnerAnswers = { readonly [Id in keyof Routes]: Handler<Routes[Id]> };

/** A route, with the name that its answer has. */
export type NamedRoute = OwnerRoute & { id: keyof Routes };

/** The routes of each path. */
export function routesByPath(): Map<string, NamedRoute[]> {
  const found = new Map<string, NamedRoute[]>();
  for (const id of Object.keys(ownerRoutes) as (keyof Routes)[]) {
    const named: NamedRoute = { ...ownerRoutes[id], id };
    found.set(named.path, [...(found.get(named.path) ?? []), named]);
  }
  return found;
}
