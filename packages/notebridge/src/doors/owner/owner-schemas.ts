import * as z from 'zod';

/*
 * The bodies of the owner's API. Each stands here once: the hub, its command and its console have their types from here, and the
 * description its schemas. Import types alone, unless a body is read or described: a start must not pay for the library.
 */

const text = z.string();
const truth = z.boolean();
const count = z.int().min(0);
const time = z.string().meta({ format: 'date-time' });
const list = <Item extends z.ZodType>(item: Item) => z.array(item).readonly();

/** How many there are, and the first of them. */
const firstOf = <Shape extends z.ZodRawShape>(item: Shape) => z.object({ count, first: list(z.object(item)) });

const doorOfGrant = z.enum(['tools', 'agent', 'watch']);
const kindOfCaller = z.enum(['owner', 'grant', 'anonymous']);
const totals = z.object({ made: count, failed: count, running: count });

const serverState = {
  name: text,
  status: z.enum(['stopped', 'starting', 'running', 'restarting', 'failed', 'disabled']),
  since: count.describe('When it came into this state, milliseconds since the epoch.'),
  pid: count.nullable().describe('Of the process that was started; null where there is none of this machine.'),
  restarts: count,
  starting_late: truth.describe('It has been starting for longer than it has taken before, and than ten seconds.'),
  in_flight: count,
  reason: text.nullable().describe('Why it failed or is started again.'),
  is_config: truth.describe('False for a server that is built in.'),
  expose: z.enum(['direct', 'code', 'none']),
  names: z.enum(['prefixed', 'plain']),
  description: text.nullable(),
};

const tool = z.object({
  name: text,
  agent_name: text.nullable().describe('What agents call it; null if it is not shown to them.'),
  description: text.nullable(),
  input_schema: z.unknown(),
  output_schema: z.unknown(),
  annotations: z.unknown(),
  needs_approval: truth,
});

const server = z.object({ ...serverState, tools: list(tool).nullable().describe('Null: not asked for yet.') });

const hubOfCluster = z.object({
  id: text,
  name: text,
  is_this: truth,
  version: text,
  started_at: time.describe('By its own clock.'),
  address: text.nullable().describe('As it says: it may mean its own machine alone.'),
  calls: count.describe('That run there.'),
  draining: truth,
  servers: firstOf({ name: text, status: text }).describe('Those of which the cluster has one.'),
  pages: firstOf({ id: text, title: text }).describe('Those that a page has come to; only the owner is told which.'),
});

const cluster = z
  .object({
    name: text,
    state: z
      .enum(['joining', 'joined', 'cut_off', 'lost', 'refused', 'draining'])
      .describe('Of this hub: `cut_off` is without NATS, and has its place still; `lost` has none any more.'),
    since: time,
    text: text.nullable().describe('What this means for callers; null: all is well.'),
    nats: z.object({ connected: truth, since: time }),
    grants_refused: truth,
    hubs: list(hubOfCluster).describe('This one first.'),
  })
  .describe('The cluster as this hub knows it, without asking; left out of a hub that is alone.');

const call = z.object({
  id: text.describe('Rises with each call of this hub.'),
  call_id: text.describe('Under which the audit and the log speak of it.'),
  parent: text.nullable().describe('The `call_id` of the call whose code made it.'),
  state: z.enum(['running', 'ended']),
  method: text,
  server: text.nullable(),
  tool: text.nullable(),
  caller: z.object({
    kind: kindOfCaller,
    grant_id: text.nullable(),
    label: text.nullable(),
    client: text.nullable(),
    session: text.nullable(),
  }),
  door: text,
  started_at: time,
  duration_ms: z.number().nullable().describe('Null while it runs.'),
  outcome: text.nullable().describe('As in the audit; null while it runs.'),
  bytes_in: count,
  bytes_out: count,
});

const approval = z.object({
  id: text,
  server: text,
  tool: text,
  arguments: text.describe('One line for each argument.'),
  caller: text,
  since: time,
  ends_at: time,
});

const grant = z.object({
  id: text,
  label: text.nullable(),
  allow: list(text),
  read_only: truth,
  door: doorOfGrant,
  created_at: time,
  expires_at: time,
  calls: count.nullable(),
  per_minute: count.nullable(),
  concurrent: count.nullable(),
  used: count,
});

const scope = {
  allow: list(text).describe('Patterns `server:tool`. Default `*:*`.').optional(),
  read_only: truth.describe('Only tools that say that they change nothing. Default false.').optional(),
};
const lifetime = { ttl_seconds: z.number().gt(0).max(2_592_000).describe('Default 3,600.').optional() };

const lease = z.object({
  holder: z.object({ id: text, name: text, since: time }).nullable(),
  asking: list(z.object({ id: text, name: text, question: count, reason: text.nullable() })),
  barred: list(z.object({ id: text, name: text.nullable() })),
});

const change = z
  .object({ change: text, cell_id: text, agent: text.nullable() })
  .nullable()
  .describe('The last change of an agent that is not taken back.');

const notebook = z.object({
  id: text,
  kind: z.enum(['built-in', 'jupyter', 'page']),
  title: text,
  location: text.nullable(),
  state: text.describe('Of the kernel, as in `notebridge ps`; `waiting` for a page that is not connected.'),
  kernel: text.nullable(),
  isolation: text.nullable().describe('What its code can do to this machine.'),
  windows: count.nullable(),
  page: z.object({ origin: text.nullable(), since: time.nullable(), text }).nullable(),
  lease: lease.nullable(),
  last_call: z.object({ agent: text.nullable(), at: time }).nullable(),
  last_change: change,
  can: list(text).describe('Which of the routes below it this notebook has.'),
});

const agent = z.object({
  id: text,
  names: list(text),
  kind: kindOfCaller,
  grant_id: text.nullable(),
  label: text.nullable(),
  door: text,
  era: z.enum(['legacy', 'modern']).nullable(),
  since: time,
  last_call: time.nullable(),
  in_flight: count,
  can_disconnect: truth,
  instead: text.nullable().describe('What to do where it cannot be disconnected.'),
});

const edit = z.object({ at: time, added: list(text), removed: list(text), restarted: list(text), changed: list(text), late: list(text) });
const fault = z.object({ line: count.nullable(), key: text, found: text, next: text });

const processOfUser = z.object({
  kind: z.enum(['broker', 'notebook']),
  pid: count,
  version: text,
  started_at: time,
  notebooks: list(
    z.object({ id: text, file: text.nullable(), kernel: text, windows: count, agents: list(text), holder: text.nullable(), since: count }),
  ),
  fault: text.optional(),
});

export const ownerSchemas = {
  Hub: z.object({
    role: z.enum(['owner', 'watcher']),
    version: text,
    pid: count,
    started_at: time,
    config_file: text.nullable(),
    config_fault: text.nullable().describe('Why the file as it is now is not used; null: it is.'),
    code_mode: truth,
    servers: list(z.object(serverState)),
    calls: totals,
    approvals: count,
    grants: count,
    cluster: cluster.optional(),
  }),
  Cluster: cluster,
  HubOfCluster: hubOfCluster,
  Server: server,
  Tool: tool,
  HubReport: z.object({
    servers: list(server),
    policy: z.object({ code_mode: truth, approvals: truth, owner_can_approve: truth }),
  }),
  Call: call,
  WholeCall: call.extend({
    arguments: z.unknown(),
    arguments_left_out: truth.optional(),
    result: z.unknown(),
    result_left_out: truth.optional(),
    error: text.nullable().describe('What its caller was told, where it failed.'),
  }),
  Calls: z.object({ calls: list(call), totals }),
  Log: z.object({
    lines: list(
      z.object({
        id: count,
        time,
        level: z.enum(['debug', 'info', 'warn', 'error']),
        msg: text,
        fields: z.record(text, z.unknown()),
      }),
    ),
    last: count.describe('For `after`.'),
  }),
  Approval: approval,
  Approvals: z.object({ approvals: list(approval) }),
  Decision: z.object({ decision: z.enum(['once', 'session', 'deny']) }),
  Grant: grant,
  Grants: z.object({
    grants: list(grant),
    in_cluster: truth.describe('True if all hubs of a cluster have these grants; else left out.').optional(),
  }),
  GrantScope: z.object(scope),
  GrantTerms: z.object({
    ...scope,
    label: text.optional(),
    door: doorOfGrant.describe('Default `tools`. With `watch` it has no scope and no bounds of calls.').optional(),
    ...lifetime,
    calls: count.optional(),
    per_minute: count.optional(),
    concurrent: count.optional(),
  }),
  Renewal: z.object(lifetime),
  IssuedGrant: z.object({ grant, token: text }),
  GrantPreview: z.object({
    tools: list(z.object({ server: text, tool: text, allowed: truth })),
    servers_not_asked: list(text).describe('Servers whose tools are not known.'),
  }),
  Agents: z.object({ agents: list(agent) }),
  Disconnected: z.object({ disconnected: truth }),
  Config: z.object({
    file: text.nullable(),
    edit: edit.nullable(),
    refused: z.object({ at: time, message: text, file: text.nullable(), faults: list(fault) }).nullable(),
  }),
  Notebooks: z.object({ notebooks: list(notebook) }),
  Address: z.object({ address: text }),
  Undone: z.object({ undone: change }),
  Holder: z.object({ holder: text.nullable() }),
  MayHold: z.object({ agent: text, may_hold: truth }),
  LeaseAnswer: z.object({ question: count, yes: truth }),
  OfLease: z.object({ lease }),
  NotebookState: z.object({ state: text }),
  Processes: z.object({ processes: list(processOfUser) }),
  End: z.object({ force: truth.describe('Whether something may be lost. Default false.').optional() }),
  Ended: z.object({ ended: truth }),
  Revoked: z.object({ revoked: truth }),
  BindingsInput: z.object({ tag: text, input: z.unknown(), warnings: list(text), failed: count }),
  ConsoleLink: z.object({ address: text }),
  Refusal: z.object({ detail: text, error_code: text.optional(), call_id: text.optional() }),
};

export type OwnerBodyName = keyof typeof ownerSchemas;

/** A body of the owner's API, by the name of its schema. */
export type OwnerBody<Name extends OwnerBodyName> = z.infer<(typeof ownerSchemas)[Name]>;
