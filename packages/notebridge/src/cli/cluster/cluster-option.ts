import { isNatsUrl, withClusterUrls } from '@notebridge/cluster/cluster-settings';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Config } from '../../config/config.js';
import { loadConfig } from '../../config/load-config.js';
import { option } from '../define-command.js';

/** `--cluster`: which NATS. */
export function clusterOption<Flags extends '--cluster <urls>' | '--cluster [urls]'>(flags: Flags, description: string) {
  return option(flags, description, { parse: parseClusterUrls });
}

function parseClusterUrls(text: string): string[] {
  const urls = text.split(',').map((url) => url.trim());
  const wrong = urls.find((url) => !isNatsUrl(url));
  if (wrong === undefined) return urls;
  // It may hold a password, and commander would print it.
  const advice =
    'is an address of NATS like "nats://host:4222", or several with "," between them (in a password, "%", "#", "?" and "/" as "%25", "%23", "%3F" and "%2F"). What was given is not shown.';
  throw new BridgeError('bad_usage', `The argument of --cluster (or NOTEBRIDGE_CLUSTER) ${advice}`);
}

/** The config, with these servers of NATS if there are any. Rejects with `bad_config`. */
export async function loadClusterConfig(file: string | undefined, urls: readonly string[] | undefined): Promise<Config> {
  const config = await loadConfig({ file, env: process.env });
  return { ...config, cluster: withClusterUrls(config.cluster, urls) };
}
