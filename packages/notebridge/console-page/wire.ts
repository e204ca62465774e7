/** What the owner's routes answer, as far as this page reads it. */

export interface HubReport {
  role: 'owner' | 'watcher';
  version: string;
  pid: number;
  started_at: string;
  config_file: string | null;
  /** Why the file as it is now is not used; null: it is. */
  config_fault: string | null;
  code_mode: boolean;
  servers: ServerState[];
  calls: CallTotals;
  approvals: number;
  grants: number;
  /** Left out: the hub is alone. */
  cluster?: ClusterReport;
}

/** The cluster as the hub knows it. */
export interface ClusterReport {
  name: string;
  state: string;
  since: string;
  /** What is wrong, and what that means; null: all is well. */
  text: string | null;
  nats: { connected: boolean; since: string };
  grants_refused: boolean;
  hubs: HubInCluster[];
}

export interface HubInCluster {
  id: string;
  name: string;
  is_this: boolean;
  version: string;
  started_at: string;
  address: string | null;
  calls: number;
  draining: boolean;
  servers: { count: number; first: { name: string; status: string }[] };
  pages: { count: number; first: { id: string; title: string }[] };
}

export interface CallTotals {
  made: number;
  failed: number;
  running: number;
}

export interface ServerState {
  name: string;
  status: string;
  /** Milliseconds since the epoch. */
  since: number;
  pid: number | null;
  restarts: number;
  /** It has been starting for longer than usual. */
  starting_late: boolean;
  in_flight: number;
  reason: string | null;
  /** False: built in. */
  is_config: boolean;
  expose: string;
  description: string | null;
}

export interface Server extends ServerState {
  /** Null: not asked for yet. */
  tools: Tool[] | null;
}

export interface Tool {
  name: string;
  /** What agents call it; null if it is not shown to them. */
  agent_name: string | null;
  description: string | null;
  input_schema: unknown;
  output_schema: unknown;
  annotations: unknown;
  needs_approval: boolean;
}

export interface Call {
  id: string;
  call_id: string;
  parent: string | null;
  state: 'running' | 'ended';
  method: string;
  server: string | null;
  tool: string | null;
  caller: { kind: string; grant_id: string | null; label: string | null; client: string | null; session: string | null };
  door: string;
  started_at: string;
  duration_ms: number | null;
  /** Null while it runs. */
  outcome: string | null;
  bytes_in: number;
  bytes_out: number;
}

export interface WholeCall extends Call {
  arguments: unknown;
  arguments_left_out?: boolean;
  result: unknown;
  result_left_out?: boolean;
  /** What its caller was told, where it failed. */
  error: string | null;
}

export interface Approval {
  id: string;
  server: string;
  tool: string;
  /** One line for each argument. */
  arguments: string;
  caller: string;
  since: string;
  ends_at: string;
}

export interface Grant {
  id: string;
  label: string | null;
  allow: string[];
  read_only: boolean;
  door: string;
  created_at: string;
  expires_at: string;
  calls: number | null;
  per_minute: number | null;
  concurrent: number | null;
  used: number;
}

export interface LogLine {
  id: number;
  time: string;
  level: string;
  msg: string;
}

export interface Agent {
  id: string;
  /** What it calls itself. */
  names: string[];
  kind: string;
  grant_id: string | null;
  /** Null: it has none. */
  label: string | null;
  door: string;
  /** Null: it has said nothing yet. */
  era: string | null;
  since: string;
  last_call: string | null;
  in_flight: number;
  can_disconnect: boolean;
  /** Why it cannot be disconnected, and what is done in place of it. */
  instead: string | null;
}

export interface Notebook {
  id: string;
  kind: string;
  title: string;
  location: string | null;
  state: string;
  kernel: string | null;
  isolation: string | null;
  windows: number | null;
  page: { origin: string | null; since: string | null; text: string } | null;
  lease: Lease | null;
  last_call: { agent: string | null; at: string } | null;
  /** The last change of an agent that is not taken back. */
  last_change: { change: string; cell_id: string; agent: string | null } | null;
  /** The last words of the routes that it has. */
  can: string[];
}

export interface Lease {
  holder: { id: string; name: string; since: string } | null;
  asking: { question: number; id: string; name: string; reason: string | null }[];
  /** Agents that only look. */
  barred: { id: string; name: string | null }[];
}

/** A process of the user that holds notebooks, beside this hub. */
export interface OtherProcess {
  kind: string;
  pid: number;
  notebooks: { id: string; file: string | null; kernel: string; agents: string[]; holder: string | null }[];
  fault?: string;
}

export interface ConfigState {
  file: string | null;
  /** The last edit that is used; null: none since the hub started. */
  edit: { at: string; added: string[]; removed: string[]; restarted: string[]; changed: string[]; late: string[] } | null;
  /** Why the file as it is now is not used; null: it is. */
  refused: { at: string; message: string; file: string | null; faults: ConfigFault[] } | null;
}

export interface ConfigFault {
  line: number | null;
  key: string;
  found: string;
  next: string;
}
