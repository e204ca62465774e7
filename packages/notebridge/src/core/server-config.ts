import type { Era } from './protocol-versions.js';
import type { Exposure, NameStyle } from './tool-server.js';

/** What both kinds of upstream have in common. */
export interface UpstreamSettings {
  name: string;
  disabled: boolean;
  /** Undefined: `limits.callTimeoutMs`. */
  timeoutMs?: number | undefined;
  tools: { allow?: string[] | undefined; deny: string[] };
  expose: Exposure;
  names: NameStyle;
  lazy: boolean;
  description?: string | undefined;
  instances: 'shared' | 'per-agent';
  era: 'auto' | Era;
  maxInFlight: number;
  /** What ties a question of a server of the legacy era to a call: its stream (over HTTP), or that there is one call at a time. */
  questions: 'auto' | 'serial' | 'none';
}

/** An MCP server of the config: a program to start, or an address to call. */
export type ServerConfig =
  | (UpstreamSettings & { transport: 'stdio'; command: string; args: string[]; env: Record<string, string>; cwd: string | undefined })
  | (UpstreamSettings & { transport: 'http' | 'sse'; url: string; headers: Record<string, string> });
