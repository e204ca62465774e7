/** What the owner's routes answer, as far as it is shown. */

export interface HubStatus {
  version: string;
  pid: number;
  started_at: string;
  config_file: string | null;
  code_mode: boolean;
  calls: { made: number; failed: number; running: number };
  grants: number;
}

export interface Server {
  name: string;
  status: string;
  /** Milliseconds since the epoch. */
  since: number;
  pid: number | null;
  restarts: number;
  in_flight: number;
  reason: string | null;
  is_config: boolean;
  expose: 'direct' | 'code' | 'none';
  description: string | null;
  /** Null: not asked for yet. */
  tools: Tool[] | null;
}

export interface Tool {
  name: string;
  agent_name: string | null;
  description: string | null;
  input_schema: unknown;
  needs_approval: boolean;
}

/** A call that runs, or has ended. */
export interface Call {
  id: string;
  call_id: string;
  parent: string | null;
  state: 'running' | 'ended';
  method: string;
  server: string | null;
  tool: string | null;
  caller: { kind: string; grant_id: string | null; label: string | null; client: string | null };
  door: string;
  started_at: string;
  duration_ms: number | null;
  outcome: string | null;
  bytes_in: number;
  bytes_out: number;
}

/** A call that waits for the owner. */
export interface Approval {
  id: string;
  server: string;
  tool: string;
  arguments: string;
  caller: string;
  ends_at: string;
}
