/** Bounds of the hub. Every one is a whole number; times are in milliseconds. */
export interface Limits {
  /** How long a tool call may take before it is given up. Default one hour. */
  callTimeoutMs: number;
  /** How long a call waits for a page that dropped to come back. 0 does not wait. Default 30 s. */
  graceMs: number;
  /** The largest message that is read or sent. Default 64 MiB. */
  maxMessageBytes: number;
  /** Calls under way at once; one more is refused. Default 1024. */
  maxInFlight: number;
  /** How long a page may take for its handshake. Default 5 s. */
  handshakeMs: number;
  /** How often a silent page is asked whether it lives. Default 20 s. */
  pingMs: number;
}

export const defaultLimits: Readonly<Limits> = {
  callTimeoutMs: 3_600_000,
  graceMs: 30_000,
  maxMessageBytes: 67_108_864,
  maxInFlight: 1024,
  handshakeMs: 5000,
  pingMs: 20_000,
};

/** What both kinds of upstream have in common. */
export interface UpstreamSettings {
  name: string;
  disabled: boolean;
  /** Undefined: `limits.callTimeoutMs`. */
  timeoutMs: number | undefined;
  tools: { allow: string[] | undefined; deny: string[] };
  expose: 'direct' | 'code' | 'none';
  lazy: boolean;
  description: string | undefined;
  instances: 'shared' | 'per-agent';
  era: 'auto' | 'legacy' | 'modern';
  maxInFlight: number;
}

/** An MCP server of the config: a program to start, or an address to call. */
export type ServerConfig =
  | (UpstreamSettings & { transport: 'stdio'; command: string; args: string[]; env: Record<string, string>; cwd: string | undefined })
  | (UpstreamSettings & { transport: 'http' | 'sse'; url: string; headers: Record<string, string> });

export interface Config {
  /** The file that was read, absolute; undefined if there is none. */
  file: string | undefined;
  /** The folder that relative paths of the config start from, absolute. */
  baseDir: string;
  /** Validated, not yet started by this version. */
  servers: ServerConfig[];
  /** Module paths as written, relative to `baseDir`. */
  middleware: string[];
  limits: Limits;
}

/** What holds when there is no config file. */
export function defaultConfig(baseDir: string): Config {
  return { file: undefined, baseDir, servers: [], middleware: [], limits: { ...defaultLimits } };
}
