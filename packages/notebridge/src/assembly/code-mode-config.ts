import { noOtherTools } from '../config/code-mode-limits.js';
import type { Config } from '../config/config.js';
import { BridgeError } from '../core/errors.js';
import type { NotebridgeOptions } from './options.js';

/** The command line, or a library user, says it before the config. */
export function withCodeMode(config: Config, wanted: NotebridgeOptions['codeMode']): Config {
  if (wanted === undefined) return config;
  // Programs in plain JavaScript are not held to the type.
  if (typeof wanted !== 'boolean') throw new BridgeError('bad_usage', `${noOtherTools}. Write codeMode: true.`);
  return { ...config, codeMode: { ...config.codeMode, enabled: wanted } };
}

/** In code mode tools are called by code, unless the config says something else of a server. */
export function withCodeExposure(config: Config): Config {
  return { ...config, servers: config.servers.map((server) => ({ ...server, expose: server.expose ?? 'code' })) };
}
