import type { JsonObject } from '@notebridge/kit/json';
import { anyId, callLimit, type NumberRange } from './call-routes.js';
import { logLimit } from './log-route.js';
import { ownerSchemas } from './owner-openapi-schemas.js';

interface QueryPart {
  description: string;
  schema: JsonObject;
}

/** One route of the owner's API. Paths stand below its prefix. */
interface Operation {
  id: string;
  summary: string;
  description?: string;
  /** What the query may have, by its names. */
  query?: { readonly [name: string]: QueryPart };
  /** The schema of the body, by its name. */
  body?: string;
  /** The schema of the answer, by its name. */
  answer: string;
  /** True: a grant that only watches opens it, too. */
  isForWatchers?: true;
}

const word = (description: string): QueryPart => ({ description, schema: { type: 'string' } });
const wholeNumber = (description: string, { least, most }: NumberRange): QueryPart => ({
  description,
  schema: { type: 'integer', minimum: least, maximum: most },
});

const callFilter = {
  server: word('Calls of this server.'),
  tool: word('Calls of this tool.'),
  door: word('Calls that came in at this door.'),
  caller: word('`owner`, `anonymous`, or the id of a grant.'),
  parent: word('The call whose code made them.'),
  outcome: word('As in the audit; `running`; `failed` for all but `ok`.'),
  limit: wholeNumber('At most so many. Default 100.', callLimit),
  before: word('Those before the call with this `id`: the next page.'),
};
const logFilter = {
  server: word('What this server printed, and what was said of it.'),
  call: word('What belongs to the call with this `call_id`.'),
  level: { description: 'And above.', schema: { type: 'string', enum: ['info', 'warn', 'error'] } },
  limit: wholeNumber('At most so many. Default 200.', logLimit),
  after: wholeNumber('Those behind the line with this `id`; waits up to 25 s for one.', anyId),
};

const operations: { readonly [path: string]: { readonly [method: string]: Operation } } = {
  '': { get: { id: 'getHub', summary: 'The hub on one screen', answer: 'Hub', isForWatchers: true } },
  '/servers': {
    get: { id: 'listServers', summary: 'All servers with the tools that are known; starts none', answer: 'HubReport', isForWatchers: true },
  },
  '/servers/{name}': { get: { id: 'getServer', summary: 'One server with its tools; started if they are not known', answer: 'Server' } },
  '/servers/{name}/start': { post: { id: 'startServer', summary: 'Start a server', answer: 'Server' } },
  '/servers/{name}/stop': {
    post: { id: 'stopServer', summary: 'Stop a server with its process; its next call starts it', answer: 'Server' },
  },
  '/servers/{name}/restart': { post: { id: 'restartServer', summary: 'Stop a server and start it', answer: 'Server' } },
  '/calls': {
    get: {
      id: 'listCalls',
      summary: 'The calls that run and the last 1,000 that ended, the newest first',
      query: callFilter,
      answer: 'Calls',
      isForWatchers: true,
    },
  },
  '/calls/{id}': { get: { id: 'getCall', summary: 'One call with what was sent and answered', answer: 'WholeCall' } },
  '/calls/{id}/cancel': { post: { id: 'cancelCall', summary: 'End a call that runs, as its caller could', answer: 'Call' } },
  '/logs': { get: { id: 'listLog', summary: 'The last lines of the log, the oldest first', query: logFilter, answer: 'Log' } },
  '/approvals': { get: { id: 'listApprovals', summary: 'The calls that wait for the owner', answer: 'Approvals' } },
  '/approvals/{id}': {
    get: { id: 'showApproval', summary: 'A call that waits, with its arguments whole', answer: 'Approval' },
    post: { id: 'decideApproval', summary: 'Allow or deny a call that waits', body: 'Decision', answer: 'Approval' },
  },
  '/grants': {
    get: { id: 'listGrants', summary: 'The live grants, without tokens', answer: 'Grants' },
    post: { id: 'issueGrant', summary: 'Issue a grant; the answer alone has its token', body: 'GrantTerms', answer: 'IssuedGrant' },
  },
  '/grants/preview': {
    post: { id: 'previewGrant', summary: 'What a grant would open; issues none', body: 'GrantScope', answer: 'GrantPreview' },
  },
  '/grants/{id}/renew': {
    post: { id: 'renewGrant', summary: 'A new token for a grant; the answer alone has it', body: 'Renewal', answer: 'IssuedGrant' },
  },
  '/grants/{id}': { delete: { id: 'revokeGrant', summary: 'Revoke a grant', answer: 'Revoked' } },
  '/agents': { get: { id: 'listAgents', summary: 'The agents that are connected, the last first', answer: 'Agents' } },
  '/agents/{id}': {
    delete: { id: 'disconnectAgent', summary: 'End the session of a legacy agent over HTTP', answer: 'Disconnected' },
  },
  '/config': { get: { id: 'getConfig', summary: 'What the last edit of the config did, and why the file is not used', answer: 'Config' } },
  '/notebooks': { get: { id: 'listNotebooks', summary: 'The notebooks that this hub holds', answer: 'Notebooks' } },
  '/notebooks/{id}/address': {
    post: { id: 'newNotebookAddress', summary: 'An address that opens a window, once', answer: 'Address' },
  },
  '/notebooks/{id}/release': { post: { id: 'releaseNotebook', summary: 'End the hold of whichever agent has it', answer: 'Holder' } },
  '/notebooks/{id}/lease': {
    post: { id: 'setMayHold', summary: 'Whether an agent may write or only looks', body: 'MayHold', answer: 'OfLease' },
  },
  '/notebooks/{id}/answer': {
    post: { id: 'answerAgent', summary: 'Give the notebook to the agent that asks for it, or not', body: 'LeaseAnswer', answer: 'OfLease' },
  },
  '/notebooks/{id}/disconnect': { post: { id: 'disconnectPage', summary: 'Hang up on the page', answer: 'Disconnected' } },
  '/notebooks/{id}/undo': {
    post: { id: 'undoChange', summary: 'Take the last change of an agent back; 409 where it cannot be', answer: 'Undone' },
  },
  '/notebooks/{id}/stop': { post: { id: 'stopRuns', summary: 'End what runs, and forget what waits', answer: 'NotebookState' } },
  '/notebooks/{id}/restart': { post: { id: 'restartKernel', summary: 'End the kernel and start another', answer: 'NotebookState' } },
  '/notebooks/elsewhere': {
    get: { id: 'listElsewhere', summary: 'The notebooks that other processes of the user hold', answer: 'Processes' },
  },
  '/notebooks/elsewhere/{id}/release': {
    post: { id: 'releaseElsewhere', summary: 'End the hold of whichever agent has it', answer: 'Holder' },
  },
  '/notebooks/elsewhere/{id}/end': {
    post: { id: 'endElsewhere', summary: 'Save and end it; 409 where something would be lost', body: 'End', answer: 'Ended' },
  },
  '/bindings': {
    get: {
      id: 'getBindingsInput',
      summary: 'What bindings are made from',
      query: { after: word('The `tag` that the caller has; waits up to 25 s until it is another one.') },
      answer: 'BindingsInput',
    },
  },
  '/console/links': { post: { id: 'newConsoleLink', summary: 'An address that opens the console, once', answer: 'ConsoleLink' } },
};

const json = (schema: JsonObject): JsonObject => ({ 'application/json': { schema } });
const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });

/** The description of the owner's API for programs and people: OpenAPI 3.1. */
export function createOwnerOpenApi({ version, prefix }: { version: string; prefix: string }): JsonObject {
  const paths = Object.entries(operations).map(([path, methods]) => [
    `${prefix}${path}`,
    Object.fromEntries(Object.entries(methods).map(([method, operation]) => [method, describe(path, operation)])),
  ]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Notebridge: the owner’s API',
      version,
      description:
        'How a hub is, and what its owner does with it: what `notebridge status`, `logs` and the console are made of. Send the owner’s token as bearer token; `notebridge grant --door watch` issues one that opens the routes tagged `watch`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    security: [{ owner: [] }],
    tags: [
      { name: 'owner', description: 'For the owner alone' },
      { name: 'watch', description: 'For the owner, and for grants that only watch' },
    ],
    paths: { ...Object.fromEntries(paths), [`${prefix}/events`]: { get: eventsOperation } },
    components: {
      securitySchemes: {
        owner: { type: 'http', scheme: 'bearer', description: 'The token of the owner, or of a grant that only watches.' },
      },
      schemas: ownerSchemas,
      responses: { Refused: { description: 'Why it was not done, and what to do next.', content: json(ref('Refusal')) } },
    },
  };
}

function describe(path: string, { id, summary, description, query = {}, body, answer, isForWatchers }: Operation): JsonObject {
  const ofPath = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const ofQuery = Object.entries(query).map(([name, part]) => ({ name, in: 'query', ...part }));
  return {
    operationId: id,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [isForWatchers === true ? 'watch' : 'owner'],
    parameters: [...ofPath, ...ofQuery],
    ...(body === undefined ? {} : { requestBody: { required: true, content: json(ref(body)) } }),
    responses: { 200: { description: 'The answer.', content: json(ref(answer)) }, ...refusals },
  };
}

const refused: JsonObject = { $ref: '#/components/responses/Refused' };
/** What every route may answer. */
const refusals: JsonObject = { 401: refused, 403: refused, 404: refused, 409: refused, 422: refused, 429: refused, 500: refused };

const eventsOperation: JsonObject = {
  operationId: 'followEvents',
  summary: 'What changes, as server-sent events',
  description:
    '`calls` has the calls that began or ended since the last such event, at most 200 four times a second, with the totals: the schema `Calls`. Any other event names a list that is to be asked for anew.',
  tags: ['watch'],
  responses: {
    200: { description: 'A stream that does not end.', content: { 'text/event-stream': { schema: { type: 'string' } } } },
    ...refusals,
  },
};
