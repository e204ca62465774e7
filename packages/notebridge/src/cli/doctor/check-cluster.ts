import type { ClusterSettings } from '@notebridge/cluster/cluster-settings';
import { sharedHubNames } from '@notebridge/cluster/lease-entries';
import { connectNats } from '@notebridge/cluster/nats/connect-nats';
import type { NatsCluster } from '@notebridge/cluster/nats/nats-cluster';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { quote } from '@notebridge/protocol/util/quote';
import type { Redactor } from '@notebridge/protocol/util/redactor';
import { stateDir } from '@notebridge/system/processes/state-dir';
import { clusterKeyFile, findClusterKey } from '../../assembly/cluster/cluster-key.js';
import { type ClusterSight, type HubOfCluster, lookAtCluster } from '../../assembly/cluster/look-at-cluster.js';
import { onOneLine } from '../terminal-logger.js';
import { type Check, failedCheck, note, ok } from './check.js';

/** A clock that is further off is said: what people have set an end for ends earlier or later at other hubs. Milliseconds. */
const clockMs = 5000;

export interface CheckedCluster {
  checks: Check[];
  /** Who is there and what each has. Undefined: it could not be looked at. */
  hubs?: readonly HubOfCluster[];
}

/** Tries all that a hub does that joins: it has every right that one needs, or the one that is missing is named. Changes nothing that is there. */
export async function checkCluster(settings: ClusterSettings, redactor: Redactor): Promise<CheckedCluster> {
  const { check, key } = checkKey(settings);
  let nats: NatsCluster;
  try {
    nats = await connectNats({ settings, logger: silentLogger, redactor, waitMs: 3000, purpose: 'try' });
  } catch (error) {
    return { checks: [check, failedCheck('cluster', messageOf(error), 'docs/config.md has a section "Cluster".')] };
  }
  try {
    const found = `"${settings.name}" at nats-server ${nats.serverVersion} (${nats.server}), with every right that a hub needs`;
    const checks = [check, ok('cluster', found), await checkReplicas(nats), await checkClock(nats)];
    if (key === undefined) return { checks };
    const sight = await lookAtCluster(nats.store, { key, name: settings.name });
    checks.push(checkHubs(sight));
    // What hubs of another key have cannot be read, so it is not said that nobody has it.
    return sight.hubs.length === 0 && sight.foreign > 0 ? { checks } : { checks, hubs: sight.hubs };
  } catch (error) {
    const next = 'Run this again; if it stays so, look at the log of nats-server.';
    return { checks: [check, failedCheck('cluster', messageOf(error), next)] };
  } finally {
    await nats.close();
  }
}

function checkKey(settings: ClusterSettings): { check: Check; key?: Buffer } {
  const [name, file] = ['cluster key', clusterKeyFile(settings, stateDir())];
  try {
    const key = findClusterKey(settings, { stateDir: stateDir() });
    if (key !== undefined) return { check: ok(name, `${file}, which is private`), key };
    const next = 'Copy the file from a hub of the cluster. The first one of all makes it when it starts.';
    return { check: note(name, `there is no ${file}`, next) };
  } catch (error) {
    return { check: failedCheck(name, messageOf(error), 'Each hub of the cluster needs the same file.') };
  }
}

async function checkReplicas(nats: NatsCluster): Promise<Check> {
  const count = await nats.replicas();
  if (count > 1) return ok('cluster store', `${count} servers of NATS keep each entry`);
  return note(
    'cluster store',
    'one server of NATS keeps what the hubs agree by',
    'NATS as a cluster of three goes on when one of them is lost. The hubs then keep each entry three times by themselves.',
  );
}

async function checkClock(nats: NatsCluster): Promise<Check> {
  const aheadMs = await nats.clockAheadMs();
  const seconds = Math.abs(aheadMs / 1000).toFixed(1);
  if (Math.abs(aheadMs) <= clockMs) return ok('cluster clock', 'that of this machine and that of NATS agree');
  const found = `the clock of this machine is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} that of NATS`;
  return failedCheck('cluster clock', found, 'Set it, by NTP: grants and approvals end by the clock.');
}

function checkHubs({ hubs, foreign }: ClusterSight): Check {
  if (foreign > 0) {
    const found = `${foreign} ${foreign === 1 ? 'hub has' : 'hubs have'} another key than this one`;
    return failedCheck('cluster hubs', found, 'Copy the file of the key from one hub to all others, and start them again.');
  }
  const [shared] = sharedHubNames(hubs);
  if (shared !== undefined) {
    const next = 'Give each a "hubName" of its own. One that was killed is listed for 10 s more.';
    return note('cluster hubs', `several hubs are called ${onOneLine(quote(shared))}`, next);
  }
  return ok(
    'cluster hubs',
    hubs.length === 0 ? 'none is there' : hubs.map((hub) => `${onOneLine(hub.name)}${hub.isDraining ? ' (draining)' : ''}`).join(', '),
  );
}
