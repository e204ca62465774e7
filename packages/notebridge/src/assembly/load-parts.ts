import { noOtherTools } from '@notebridge/code-mode/execution/code-mode-limits';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Config } from '../config/config.js';
import type { ClusterOfHub } from './cluster/cluster-of-hub.js';
import type { ConfigServers } from './config-servers.js';
import type { OneAgent } from './one-agent.js';
import type { NotebridgeOptions } from './options.js';
import type { Settings } from './settings.js';

/** Loaded only where something asks for servers: without them an agent's start costs nothing more. */
export async function createServers(
  settings: Settings,
  { http, sharedDir, servers: own = [], notebook = 'none' }: NotebridgeOptions,
  { isCodeMode, cluster, agent }: { isCodeMode: boolean; cluster: ClusterOfHub | undefined; agent: OneAgent | undefined },
): Promise<ConfigServers | undefined> {
  const { servers, skills } = settings.config;
  const isWanted = servers.length > 0 || own.length > 0 || skills.length > 0 || http !== undefined || notebook === 'none' || isCodeMode;
  if (!isWanted) return undefined;
  const { ConfigServers } = await import('./config-servers.js');
  return new ConfigServers({
    ...settings,
    sharedDir,
    own,
    isCodeMode,
    soleAgent: agent,
    place: cluster && ((placed) => cluster.place(placed)),
  });
}

/** Loaded only for a hub of a cluster. Rejects with `bad_config` or `write_failed` if its key cannot be had. */
export async function createCluster(settings: Settings, { http }: NotebridgeOptions): Promise<ClusterOfHub | undefined> {
  if (settings.config.cluster === undefined || http === undefined) return undefined;
  return (await import('./cluster/cluster-of-hub.js')).createClusterOfHub(settings, http.name);
}

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
