import type { ServerConfig } from '../config/server-config.js';

/** What of a config a running program depends on: where it changes, the program is started anew. */
export function programOf(config: ServerConfig): unknown {
  const { tools: _1, description: _2, expose: _3, timeoutMs: _4, maxInFlight: _5, lazy: _6, names: _7, placement: _8, ...program } = config;
  return program;
}
