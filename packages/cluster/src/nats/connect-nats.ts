import { fileURLToPath } from 'node:url';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { ConnectNatsOptions, NatsCluster } from './nats-cluster.js';

/** As it is installed; docs/config.md has the same. */
export const natsPackages = ['@nats-io/transport-node@3', '@nats-io/jetstream@3'];

/**
 * Loads the client of NATS, which nobody else pays for, and connects. It is optional: who runs many hubs installs it. Rejects with
 * `bad_config` for what a person has to change (a package, a right, the version of the server), and with `cluster_unavailable` if NATS
 * stays away.
 */
export async function connectNats(options: ConnectNatsOptions): Promise<NatsCluster> {
  const { createNatsCluster } = await import('./nats-cluster.js').catch((cause: unknown) => {
    const what = (messageOf(cause).split('\n')[0] ?? '').replace(/ imported from .*/, '');
    throw new BridgeError(
      'bad_config',
      `"notebridge.cluster" needs the client of NATS: ${what}. Install it beside Notebridge${placeOf(import.meta.url)} (with --global if it is): npm install ${natsPackages.join(' ')}`,
      { cause },
    );
  });
  return createNatsCluster(options);
}

/** In which folder a person has installed Notebridge; nothing if it runs from a clone. */
function placeOf(url: string): string {
  const [, folder] = /^(.+)[\\/]node_modules[\\/]/.exec(fileURLToPath(url)) ?? [];
  return folder === undefined ? '' : `, in "${folder}"`;
}
