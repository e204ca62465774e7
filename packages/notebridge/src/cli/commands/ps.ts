import { ownVersion } from '@notebridge/system/files/own-files';
import { stateDir } from '@notebridge/system/processes/state-dir';
import { type HoldingProcess, reportOf } from '../../broker/ask-host.js';
import { readHostPlaces } from '../../broker/host-place.js';
import { readHubFiles } from '../../identity/hub-file.js';
import { clusterOption } from '../cluster/cluster-option.js';
import { sharedOptions } from '../command-options.js';
import { defineCommand } from '../define-command.js';
import { printJsonLine, printTable, toDuration } from '../terminal.js';
import { onOneLine } from '../terminal-logger.js';

/** `notebridge ps`: the hubs and notebooks of this user, or the hubs of a cluster. */
export const psCommand = defineCommand({
  options: [
    sharedOptions.json,
    sharedOptions.config,
    clusterOption('--cluster [urls]', 'the hubs of the cluster at this NATS (default: that of the config), and what each has'),
  ],
  run: async ({ cluster, config, json = false }) => {
    if (cluster === undefined) return listOpen(json);
    // Loaded only now: the clients of NATS are many files.
    const { listHubs } = await import('../cluster/list-hubs.js');
    return listHubs(config, cluster === true ? undefined : cluster, json);
  },
});

/** A process of the user, and what it holds. */
interface OpenHost extends Omit<HoldingProcess, 'kind'> {
  kind: 'hub' | HoldingProcess['kind'];
  /** These two of a hub. */
  name?: string;
  url?: string;
}

/** Prints the hubs and notebooks of this user, each a line. */
async function listOpen(asJson: boolean): Promise<void> {
  const dir = stateDir();
  const found = await Promise.all(readHostPlaces(dir).map((place) => reportOf(place, ownVersion())));
  const hosts: OpenHost[] = [...readHubFiles(dir).map((hub) => ({ kind: 'hub' as const, ...hub, notebooks: [] })), ...found];
  if (asJson) return printJsonLine({ hosts });
  if (hosts.length === 0) return void process.stdout.write('No hub and no notebook of yours is open.\n');
  printTable(['PID', 'PROCESS', 'ID', 'SINCE', 'KERNEL', 'WINDOWS', 'AGENTS', 'HOLDER', 'NOTEBOOK'], hosts.flatMap(toRows));
}

const holders = { hub: 'hub', broker: 'broker', notebook: 'terminal or hub' };

function toRows({ kind, name = '', pid, startedAt, url, notebooks, fault }: OpenHost): string[][] {
  const start = [String(pid), holders[kind]];
  const since = (time: number): string => toDuration(Date.now() - time);
  if (notebooks.length === 0) return [[...start, name, since(startedAt), '', '', '', '', fault ?? url ?? '(none)']];
  return notebooks.map(({ id, file, kernel, windows, agents, holder, since: opened }) => [
    ...start,
    id,
    since(opened),
    onOneLine(kernel),
    windows === 0 ? '' : String(windows),
    agents.map(onOneLine).join(', '),
    onOneLine(holder ?? ''),
    onOneLine(file ?? '(in memory)'),
  ]);
}
