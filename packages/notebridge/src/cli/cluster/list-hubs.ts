import { sharedHubNames } from '@notebridge/cluster/lease-entries';
import { connectNats } from '@notebridge/cluster/nats/connect-nats';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { quote } from '@notebridge/protocol/util/quote';
import { stateDir } from '@notebridge/system/processes/state-dir';
import { clusterKeyFile, findClusterKey } from '../../assembly/cluster/cluster-key.js';
import { type AskedHub, askHubs, lookAtCluster, type ResourceOfHub } from '../../assembly/cluster/look-at-cluster.js';
import { printJsonLine, printTable, toDuration } from '../terminal.js';
import { onOneLine } from '../terminal-logger.js';
import { loadClusterConfig } from './cluster-option.js';

/** Hubs answer within milliseconds, but for one with a process of notebooks that does not. */
const askMs = 3000;
const whatIsNotSaid = 'what it has for itself (servers of its own, notebooks): it is busy or cut off, or of an older version.';

/** Prints the hubs of the cluster and what each has. `urls`: undefined for those of the config. Rejects with `bad_config` or `cluster_unavailable`. */
export async function listHubs(config: string | undefined, urls: readonly string[] | undefined, asJson: boolean): Promise<void> {
  const { cluster: settings, file: read } = await loadClusterConfig(config, urls);
  if (settings === undefined) {
    const where = read === undefined ? 'no config was found' : `there is no "notebridge.cluster" in ${quote(read)}`;
    const next = 'Name the config of a hub, by "--config", or the NATS: notebridge ps --cluster nats://HOST:4222';
    throw new BridgeError('bad_config', `No cluster is configured: ${where}. ${next}`);
  }
  const key = findClusterKey(settings, { stateDir: stateDir() });
  if (key === undefined) {
    const file = clusterKeyFile(settings, stateDir());
    throw new BridgeError(
      'bad_config',
      `The key of the cluster is not here: there is no "${file}". Copy it from a hub, or name it in "notebridge.cluster.key".`,
    );
  }
  const nats = await connectNats({ settings, logger: silentLogger, waitMs: 3000, purpose: 'look' });
  try {
    const { hubs: seen, foreign } = await lookAtCluster(nats.store, { key, name: settings.name });
    const hubs = await askHubs(seen, { bus: nats.bus, key, name: settings.name, timeoutMs: askMs });
    const { stdout } = process;
    if (asJson) {
      const ofNats = { server: nats.server, version: nats.serverVersion };
      return printJsonLine({ cluster: settings.name, nats: ofNats, hubs, foreign });
    }
    if (hubs.length > 0) printTable(['HUB', 'ID', 'VERSION', 'SINCE', 'CALLS', 'STATE', 'ADDRESS', 'HAS'], hubs.map(toRow));
    else stdout.write(`No hub is in the cluster "${settings.name}".${foreign > 0 ? '' : ' Start one: notebridge serve'}\n`);
    for (const name of sharedHubNames(hubs)) {
      stdout.write(
        `Several hubs are called ${onOneLine(quote(name))}: give each a "hubName" of its own. One that was killed is listed for 10 s more.\n`,
      );
    }
    for (const { name, answers, silent } of hubs) {
      const hub = onOneLine(quote(name));
      if (!answers) stdout.write(`The hub ${hub} did not say within ${askMs / 1000} s ${whatIsNotSaid}\n`);
      for (const why of silent) stdout.write(`At the hub ${hub}: ${onOneLine(why)}\n`);
    }
    if (foreign > 0)
      stdout.write(
        `${foreign} more ${foreign === 1 ? 'has' : 'have'} another key than this one: copy the file of the key from one to the others.\n`,
      );
  } finally {
    await nats.close();
  }
}

function toRow(hub: AskedHub): string[] {
  return [
    onOneLine(hub.name),
    onOneLine(hub.id),
    onOneLine(hub.version),
    toDuration(Date.now() - hub.startedAt),
    String(hub.load),
    hub.isDraining ? 'draining' : 'serving',
    onOneLine(hub.url ?? ''),
    onOneLine(toHasText(hub)),
  ];
}

/** Of each kind: ten thousand pages make no line. */
const mostNamed = 20;

/** What a hub has, in one line. Its own servers that do not run are left out: every hub has all of the config. */
function toHasText({ has, more }: AskedHub): string {
  const shown = has.filter(({ kind, epoch, about }) => kind !== 'server' || epoch !== undefined || about.status !== 'stopped');
  const unsaid: Record<string, number> = { server: more.servers, notebook: more.notebooks };
  const kinds = new Set(['server', 'notebook', ...shown.map(({ kind }) => kind)]);
  const parts = [...kinds].flatMap((kind) => {
    const all = shown.filter((one) => one.kind === kind);
    const left = Math.max(0, all.length - mostNamed) + (unsaid[kind] ?? 0);
    return [...all.slice(0, mostNamed).map(toText), ...(left === 0 ? [] : [`${left} more ${kind}s`])];
  });
  return parts.join(', ');
}

function toText({ kind, name, about: { status } }: ResourceOfHub): string {
  const state = kind === 'server' && typeof status === 'string' && status !== 'running' ? ` (${status})` : '';
  return `${kind} ${name}${state}`;
}
