import { type ClusterSettings, defaultClusterName } from '@notebridge/cluster/cluster-settings';

/** As the config gives them to a hub, without the audit. */
export function natsSettings(urls: readonly string[], more: Partial<ClusterSettings> = {}): ClusterSettings {
  return { urls, name: defaultClusterName, drainMs: 1000, audit: false, ...more };
}
