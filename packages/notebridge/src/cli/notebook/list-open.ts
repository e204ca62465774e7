import { type HoldingProcess, reportOf } from '../../broker/ask-host.js';
import { readHostPlaces } from '../../broker/host-place.js';
import { readHubFiles } from '../../identity/hub-file.js';
import { stateDir } from '../../processes/state-dir.js';
import { ownVersion } from '../../state/own-files.js';
import { paintFor, toDuration, toTable } from '../terminal.js';
import { onOneLine } from '../terminal-logger.js';

/** A process of the user, and what it holds. */
interface OpenHost extends Omit<HoldingProcess, 'kind'> {
  kind: 'hub' | HoldingProcess['kind'];
  /** These two of a hub. */
  name?: string;
  url?: string;
}

/** Prints the hubs and notebooks of this user, each a line. */
export async function listOpen({ asJson }: { asJson: boolean }): Promise<void> {
  const dir = stateDir();
  const found = await Promise.all(readHostPlaces(dir).map((place) => reportOf(place, ownVersion())));
  const hosts: OpenHost[] = [...readHubFiles(dir).map((hub) => ({ kind: 'hub' as const, ...hub, notebooks: [] })), ...found];
  const { stdout } = process;
  if (asJson) return void stdout.write(`${JSON.stringify({ hosts })}\n`);
  if (hosts.length === 0) return void stdout.write('No hub and no notebook of yours is open.\n');
  const paint = paintFor(stdout);
  const headings = ['PID', 'PROCESS', 'ID', 'SINCE', 'KERNEL', 'WINDOWS', 'AGENTS', 'HOLDER', 'NOTEBOOK'];
  stdout.write(toTable(headings, hosts.flatMap(toRows), { paint, width: stdout.isTTY ? stdout.columns : undefined }));
}

const holders = { hub: 'hub', broker: 'broker', notebook: 'terminal or hub' };

function toRows({ kind, name = '', pid, startedAt, url, notebooks, fault }: OpenHost): string[][] {
  const start = [String(pid), holders[kind]];
  const since = (time: number): string => toDuration(Date.now() - time);
  if (notebooks.length === 0) return [[...start, name, since(startedAt), '', '', '', '', fault ?? url ?? '(none)']];
  return notebooks.map(({ id, file, kernel, windows, agents, holder, since: opened }) => {
    const names = agents.map(onOneLine).join(', ');
    const writer = holder === null ? '' : onOneLine(holder);
    return [
      ...start,
      id,
      since(opened),
      onOneLine(kernel),
      windows === 0 ? '' : String(windows),
      names,
      writer,
      onOneLine(file ?? '(in memory)'),
    ];
  });
}
