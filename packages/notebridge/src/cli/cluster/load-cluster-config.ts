import { withClusterUrls } from '../../config/cluster-settings.js';
import type { Config } from '../../config/config.js';
import { loadConfig } from '../../config/load-config.js';

/** The config, with these servers of NATS if there are any. Rejects with `bad_config`. */
export async function loadClusterConfig(file: string | undefined, urls: readonly string[] | undefined): Promise<Config> {
  const config = await loadConfig({ file, env: process.env });
  return { ...config, cluster: withClusterUrls(config.cluster, urls) };
}
