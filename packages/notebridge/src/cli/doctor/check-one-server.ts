import type { HubOfCluster } from '../../assembly/cluster/look-at-cluster.js';
import type { ServerConfig } from '../../config/server-config.js';
import type { ServerStatus } from '../../core/tool-server.js';
import { quote } from '../../util/quote.js';
import { isInCluster } from '../grants/grant-desk.js';
import { askOwner } from '../hub/hub-request.js';
import { onOneLine } from '../terminal-logger.js';
import { type Check, failedCheck, note, ok } from './check.js';
import { findOwnHub } from './check-hub.js';

/** Looks at a server with `placement: one` without starting it: the hubs decide by a claim who does, and one outside of them has none. */
export type CheckOneServer = (server: ServerConfig) => Check;

export interface ClusterSeen {
  /** False: neither the config nor an option names one. */
  isNamed: boolean;
  /** Who is there. Undefined: it could not be looked at. */
  hubs: readonly HubOfCluster[] | undefined;
}

const askMs = 5000;

/** Undefined: there is no cluster, so such a server runs here as any other. Never rejects. */
export async function findCheckOfOne({ isNamed, hubs }: ClusterSeen): Promise<CheckOneServer | undefined> {
  if (hubs !== undefined) return (server) => checkAtHubs(server, hubs);
  const said = await askOwnHub().catch(() => undefined);
  if (!isNamed && said?.isInCluster !== true) return undefined;
  return (server) => checkAtOwnHub(server, said?.servers.find(({ name }) => name === server.name)?.status);
}

function checkAtHubs({ name, lazy }: ServerConfig, hubs: readonly HubOfCluster[]): Check {
  const title = `server ${name}`;
  for (const hub of hubs) {
    const claim = hub.has.find((one) => one.kind === 'server' && one.name === name);
    if (claim !== undefined)
      return toCheck(title, `the hub ${onOneLine(quote(hub.name))} of the cluster has it`, onOneLine(String(claim.about.status)));
  }
  const found = 'no hub of the cluster has it just now; it was not started here, since a hub is to run the only one';
  if (hubs.length === 0) return note(title, found, 'Start a hub: notebridge serve. Then run this again.');
  if (lazy) return ok(title, `${found}. The first call starts it`);
  return note(title, found, 'Run this again. If it stays so, look whether it is in the config of the hubs.');
}

function checkAtOwnHub({ name }: ServerConfig, status: string | undefined): Check {
  const title = `server ${name}`;
  if (status !== undefined) return toCheck(title, 'a hub of the cluster has it, as your running hub says', status);
  return note(
    title,
    'not started here, since the cluster is to have one; which hub runs it could not be asked',
    'Fix what is said of the cluster above, then run this again.',
  );
}

function toCheck(title: string, who: string, status: ServerStatus | (string & {})): Check {
  const found = `${who}: ${status}. It was not started a second time`;
  if (status === 'failed') return failedCheck(title, found, `See why, at that hub: notebridge servers`);
  return status === 'restarting' ? note(title, found, 'See why, at that hub: notebridge servers') : ok(title, found);
}

/** What the hub of this user says. Undefined: none runs. Rejects if it does not answer. */
async function askOwnHub() {
  const hub = await findOwnHub();
  if (hub === undefined) return undefined;
  const { servers } = await askOwner<'Hub'>(hub, '', { timeoutMs: askMs });
  return { isInCluster: await isInCluster(hub), servers };
}
