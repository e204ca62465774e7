import type { JsonObject } from '@notebridge/kit/json';

const text: JsonObject = { type: 'string' };
const truth: JsonObject = { type: 'boolean' };
const count: JsonObject = { type: 'integer', minimum: 0 };
const time: JsonObject = { type: 'string', format: 'date-time' };
const anything: JsonObject = {};
const orNull = ({ type, ...rest }: JsonObject): JsonObject => ({ type: [type, 'null'] as string[], ...rest });
const list = (items: JsonObject): JsonObject => ({ type: 'array', items });
const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });
const oneOf = (...names: string[]): JsonObject => ({ type: 'string', enum: names });
/** All members are always there, but for those that are named as optional; there are no others. */
const object = (properties: JsonObject, optional: readonly string[] = []): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
});
const allOptional = (properties: JsonObject): JsonObject => object(properties, Object.keys(properties));

/** Of many, the first. */
const firstOf = (item: JsonObject): JsonObject => object({ count, first: list(object(item)) });

const totals = object({ made: count, failed: count, running: count });

const serverState: JsonObject = {
  name: text,
  status: oneOf('stopped', 'starting', 'running', 'restarting', 'failed', 'disabled'),
  since: { ...count, description: 'When it came into this state, milliseconds since the epoch.' },
  pid: { ...orNull(count), description: 'Of the process that was started; null where there is none of this machine.' },
  restarts: count,
  starting_late: { ...truth, description: 'It has been starting for longer than it has taken before, and than ten seconds.' },
  in_flight: count,
  reason: { ...orNull(text), description: 'Why it failed or is started again.' },
  is_config: { ...truth, description: 'False for a server that is built in.' },
  expose: oneOf('direct', 'code', 'none'),
  names: oneOf('prefixed', 'plain'),
  description: orNull(text),
};

const call: JsonObject = {
  id: { ...text, description: 'Rises with each call of this hub.' },
  call_id: { ...text, description: 'Under which the audit and the log speak of it.' },
  parent: { ...orNull(text), description: 'The `call_id` of the call whose code made it.' },
  state: oneOf('running', 'ended'),
  method: text,
  server: orNull(text),
  tool: orNull(text),
  caller: object({
    kind: oneOf('owner', 'grant', 'anonymous'),
    grant_id: orNull(text),
    label: orNull(text),
    client: orNull(text),
    session: orNull(text),
  }),
  door: text,
  started_at: time,
  duration_ms: { ...orNull({ type: 'number' }), description: 'Null while it runs.' },
  outcome: { ...orNull(text), description: 'As in the audit; null while it runs.' },
  bytes_in: count,
  bytes_out: count,
};

const grant: JsonObject = {
  id: text,
  label: orNull(text),
  allow: list(text),
  read_only: truth,
  door: oneOf('tools', 'agent', 'watch'),
  created_at: time,
  expires_at: time,
  calls: orNull(count),
  per_minute: orNull(count),
  concurrent: orNull(count),
  used: count,
};

const ttlSeconds: JsonObject = { type: 'number', exclusiveMinimum: 0, maximum: 2_592_000, description: 'Default 3,600.' };

const scope: JsonObject = {
  allow: { ...list(text), description: 'Patterns `server:tool`. Default `*:*`.' },
  read_only: { ...truth, description: 'Only tools that say that they change nothing. Default false.' },
};

const approval: JsonObject = {
  id: text,
  server: text,
  tool: text,
  arguments: { ...text, description: 'One line for each argument.' },
  caller: text,
  since: time,
  ends_at: time,
};

const id: JsonObject = { id: text, name: text };
const lease = object({
  holder: orNull(object({ ...id, since: time })),
  asking: list(object({ ...id, question: count, reason: orNull(text) })),
  barred: list(object({ id: text, name: orNull(text) })),
});
const change: JsonObject = {
  ...orNull(object({ change: text, cell_id: text, agent: orNull(text) })),
  description: 'The last change of an agent that is not taken back.',
};
const notebook = object({
  id: text,
  kind: oneOf('built-in', 'jupyter', 'page'),
  title: text,
  location: orNull(text),
  state: { ...text, description: 'Of the kernel, as in `notebridge ps`; `waiting` for a page that is not connected.' },
  kernel: orNull(text),
  isolation: { ...orNull(text), description: 'What its code can do to this machine.' },
  windows: orNull(count),
  page: orNull(object({ origin: orNull(text), since: orNull(time), text })),
  lease: orNull(lease),
  last_call: orNull(object({ agent: orNull(text), at: time })),
  last_change: change,
  can: { ...list(text), description: 'Which of the routes below it this notebook has.' },
});
const edit: JsonObject = { at: time, added: list(text), removed: list(text), restarted: list(text), changed: list(text), late: list(text) };
const fault = object({ line: orNull(count), key: text, found: text, next: text });

/** The schemas of the description of the owner's API. */
export const ownerSchemas: JsonObject = {
  Hub: object(
    {
      role: oneOf('owner', 'watcher'),
      version: text,
      pid: count,
      started_at: time,
      config_file: orNull(text),
      config_fault: { ...orNull(text), description: 'Why the file as it is now is not used; null: it is.' },
      code_mode: truth,
      servers: list(object(serverState)),
      calls: totals,
      approvals: count,
      grants: count,
      cluster: ref('Cluster'),
    },
    ['cluster'],
  ),
  Cluster: {
    ...object({
      name: text,
      state: {
        ...oneOf('joining', 'joined', 'cut_off', 'lost', 'refused', 'draining'),
        description: 'Of this hub: `cut_off` is without NATS, and has its place still; `lost` has none any more.',
      },
      since: time,
      text: { ...orNull(text), description: 'What this means for callers; null: all is well.' },
      nats: object({ connected: truth, since: time }),
      grants_refused: truth,
      hubs: { ...list(ref('HubOfCluster')), description: 'This one first.' },
    }),
    description: 'The cluster as this hub knows it, without asking; left out of a hub that is alone.',
  },
  HubOfCluster: object({
    id: text,
    name: text,
    is_this: truth,
    version: text,
    started_at: { ...time, description: 'By its own clock.' },
    address: { ...orNull(text), description: 'As it says: it may mean its own machine alone.' },
    calls: { ...count, description: 'That run there.' },
    draining: truth,
    servers: { ...firstOf({ name: text, status: text }), description: 'Those of which the cluster has one.' },
    pages: { ...firstOf({ id: text, title: text }), description: 'Those that a page has come to; only the owner is told which.' },
  }),
  Server: object({ ...serverState, tools: { ...orNull(list(ref('Tool'))), description: 'Null: not asked for yet.' } }),
  Tool: object({
    name: text,
    agent_name: { ...orNull(text), description: 'What agents call it; null if it is not shown to them.' },
    description: orNull(text),
    input_schema: anything,
    output_schema: anything,
    annotations: anything,
    needs_approval: truth,
  }),
  HubReport: object({
    servers: list(ref('Server')),
    policy: object({ code_mode: truth, approvals: truth, owner_can_approve: truth }),
  }),
  Call: object(call),
  WholeCall: object(
    {
      ...call,
      arguments: anything,
      arguments_left_out: truth,
      result: anything,
      result_left_out: truth,
      error: { ...orNull(text), description: 'What its caller was told, where it failed.' },
    },
    ['arguments_left_out', 'result_left_out'],
  ),
  Calls: object({ calls: list(ref('Call')), totals }),
  Log: object({
    lines: list(object({ id: count, time, level: text, msg: text, fields: { type: 'object' } })),
    last: { ...count, description: 'For `after`.' },
  }),
  Approval: object(approval),
  Approvals: object({ approvals: list(ref('Approval')) }),
  Decision: object({ decision: oneOf('once', 'session', 'deny') }),
  Grant: object(grant),
  Grants: object(
    {
      grants: list(ref('Grant')),
      in_cluster: { type: 'boolean', description: 'True if all hubs of a cluster have these grants; else left out.' },
    },
    ['in_cluster'],
  ),
  GrantScope: allOptional(scope),
  GrantTerms: allOptional({
    ...scope,
    label: text,
    door: { ...oneOf('tools', 'agent', 'watch'), description: 'Default `tools`. With `watch` it has no scope and no bounds of calls.' },
    ttl_seconds: ttlSeconds,
    calls: count,
    per_minute: count,
    concurrent: count,
  }),
  Renewal: allOptional({ ttl_seconds: ttlSeconds }),
  IssuedGrant: object({ grant: ref('Grant'), token: text }),
  GrantPreview: object({
    tools: list(object({ server: text, tool: text, allowed: truth })),
    servers_not_asked: { ...list(text), description: 'Servers whose tools are not known.' },
  }),
  Agents: object({
    agents: list(
      object({
        id: text,
        names: list(text),
        kind: oneOf('owner', 'grant', 'anonymous'),
        grant_id: orNull(text),
        label: orNull(text),
        door: text,
        era: orNull(oneOf('legacy', 'modern')),
        since: time,
        last_call: orNull(time),
        in_flight: count,
        can_disconnect: truth,
        instead: { ...orNull(text), description: 'What to do where it cannot be disconnected.' },
      }),
    ),
  }),
  Disconnected: object({ disconnected: truth }),
  Config: object({
    file: orNull(text),
    edit: orNull(object(edit)),
    refused: orNull(object({ at: time, message: text, file: orNull(text), faults: list(fault) })),
  }),
  Notebooks: object({ notebooks: list(notebook) }),
  Address: object({ address: text }),
  Undone: object({ undone: change }),
  Holder: object({ holder: orNull(text) }),
  MayHold: object({ agent: text, may_hold: truth }),
  LeaseAnswer: object({ question: count, yes: truth }),
  OfLease: object({ lease }),
  NotebookState: object({ state: text }),
  Processes: object({
    processes: list(
      object(
        {
          kind: oneOf('broker', 'notebook'),
          pid: count,
          version: text,
          started_at: time,
          notebooks: list({ type: 'object', required: ['id', 'file', 'kernel', 'windows', 'agents', 'holder', 'since'] }),
          fault: text,
        },
        ['fault'],
      ),
    ),
  }),
  End: allOptional({ force: { ...truth, description: 'Whether something may be lost. Default false.' } }),
  Ended: object({ ended: truth }),
  Revoked: object({ revoked: truth }),
  BindingsInput: object({ tag: text, input: anything, warnings: list(text), failed: count }),
  ConsoleLink: object({ address: text }),
  Refusal: object({ detail: text, error_code: text, call_id: text }, ['error_code', 'call_id']),
};
