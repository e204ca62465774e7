import type { JsonObject } from '@notebridge/protocol/json';
import type { OwnerBody } from '../../doors/owner/owner-schemas.js';
import { sharedOptions } from '../command-options.js';
import { defineCommand } from '../define-command.js';
import { askOwner } from '../hub/hub-request.js';
import { ownHub } from '../hub/own-hub.js';
import { asTyped } from '../own-command.js';
import { paint, printJsonLine, printTable, toDuration } from '../terminal.js';
import { onOneLine, withoutControls } from '../terminal-logger.js';

/** `notebridge status`: the running hub on one screen. */
export const statusCommand = defineCommand({ typed: [sharedOptions.json], run: showStatus });

/** Calls that failed, of the last ones. */
const mostFailed = 5;

type HubStatus = OwnerBody<'Hub'>;
type ClusterStatus = OwnerBody<'Cluster'>;
type FailedCall = OwnerBody<'Call'>;

/** Prints the hub on one screen: what is wrong comes first. Rejects with `closed` without a hub. */
async function showStatus({ json = false }: { json?: boolean }): Promise<void> {
  const hub = await ownHub();
  const status = await askOwner<'Hub'>(hub, '');
  const { calls } = await askOwner<'Calls'>(hub, `/calls?outcome=failed&limit=${mostFailed}`);
  if (json) return printJsonLine({ url: hub.url, ...(status as unknown as JsonObject), failed_calls: calls });
  printScreen(hub.url, status, calls);
}

function printScreen(url: string, status: HubStatus, failed: readonly FailedCall[]): void {
  const { version, pid, config_file: file, config_fault: fault, servers, calls, approvals, grants, cluster } = status;
  const age = toAge(status.started_at);
  const wrong = [
    ...(fault === null
      ? []
      : [
          `${paint.red('config')}  the file is not used, and what held before goes on: ${withoutControls(fault).replaceAll('\n', '\n        ')}`,
        ]),
    ...(cluster === undefined ? [] : toClusterTrouble(cluster)),
    ...servers.filter(isInTrouble).map(toTrouble),
    ...(approvals === 0 ? [] : [`${paint.yellow('waiting')}  for your approval: ${approvals}. See: ${asTyped('notebridge approvals')}`]),
  ];
  const running = servers.filter(({ status: state }) => state === 'running').length;
  const named = servers.length === 0 ? '' : `: ${servers.map(({ name }) => onOneLine(name)).join(', ')}`;
  const facts = [
    ['Hub', `${url} (version ${version}, pid ${pid}, for ${age})`],
    ['Config', `${file ?? 'none'}${status.code_mode ? '; agents call tools by code' : ''}`],
    ['Servers', `${servers.length}, ${running} running${named}`],
    ['Calls', `${calls.made} made, ${calls.running} under way, ${calls.failed} failed`],
    ['Grants', `${grants} live`],
    ...(cluster === undefined ? [] : toClusterRows(cluster)),
  ];
  if (wrong.length > 0) process.stdout.write(`${wrong.join('\n')}\n\n`);
  printTable([], facts);
  if (failed.length === 0) return;
  process.stdout.write('\n');
  printTable(['LAST THAT FAILED', 'WHEN', 'BY', 'OUTCOME', 'CALL'], failed.map(toRow));
}

type StatedServer = HubStatus['servers'][number];

function isInTrouble({ status, starting_late: isLate }: StatedServer): boolean {
  return status === 'failed' || status === 'restarting' || isLate;
}

function toTrouble({ name, status, since, reason, starting_late: isLate }: StatedServer): string {
  const late = `for ${toDuration(Date.now() - since)}, longer than it usually takes`;
  const why = [isLate ? late : undefined, reason ?? (isLate ? undefined : 'no reason is known')].filter((part) => part !== undefined);
  const told = withoutControls(why.join('; ')).replaceAll('\n', '\n        ');
  const state = isLate ? paint.yellow(status) : paint.red(status);
  return `${state}  ${onOneLine(name)}: ${told}\n        ${paint.dim(asTyped(`notebridge logs --server ${name}`))}`;
}

function toRow({ server, tool, outcome, started_at: startedAt, call_id: id, caller }: FailedCall): string[] {
  const what = onOneLine([server, tool].filter((part) => part !== null && part !== '').join(':') || 'a request');
  const who = onOneLine(caller.label ?? caller.client ?? caller.kind);
  return [what, `${toAge(startedAt)} ago`, who, paint.red(outcome ?? ''), id];
}

/** Of more hubs it is said how many there are. */
const mostHubs = 12;
const mostServers = 4;

const words: { readonly [state in ClusterStatus['state']]: string } = {
  joined: 'joined',
  joining: 'not joined yet',
  cut_off: 'without NATS',
  lost: 'not joined',
  refused: 'not joined',
  draining: 'draining',
};

/** What is wrong with the cluster, as this hub sees it. */
function toClusterTrouble({ state, since, text }: ClusterStatus): string[] {
  if (text === null) return [];
  const colour = state === 'joined' || state === 'joining' || state === 'draining' ? paint.yellow : paint.red;
  return [`${colour('cluster')}  for ${toAge(since)}: ${withoutControls(text).replaceAll('\n', '\n        ')}`];
}

/** The cluster and its hubs, a row for each. */
function toClusterRows({ name, state, since, hubs }: ClusterStatus): string[][] {
  const isOld = state === 'lost' || state === 'cut_off';
  const shown = hubs.slice(0, mostHubs).map((hub) => ['', toHubLine(hub)]);
  const rest = hubs.length - shown.length;
  return [
    [
      'Cluster',
      `${onOneLine(name)}, ${words[state]} for ${toAge(since)}; ${hubs.length} ${hubs.length === 1 ? 'hub' : 'hubs'}${isOld ? ', as known last' : ''}`,
    ],
    ...shown,
    ...(rest > 0 ? [['', `${rest} more`]] : []),
  ];
}

function toHubLine({ name, is_this: isThis, draining, servers, pages }: OwnerBody<'HubOfCluster'>): string {
  const named = servers.first.slice(0, mostServers).map((server) => onOneLine(server.name));
  const more = servers.count - named.length;
  const has = [
    ...(servers.count === 0
      ? []
      : [`${servers.count === 1 ? 'server' : 'servers'} ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`]),
    ...(pages.count === 0 ? [] : [`${pages.count} ${pages.count === 1 ? 'page' : 'pages'}`]),
    ...(draining && !isThis ? ['draining'] : []),
  ];
  return `${onOneLine(name)}${isThis ? ' (this one)' : ''}${has.length === 0 ? '' : `: ${has.join('; ')}`}`;
}

function toAge(since: string): string {
  return toDuration(Date.now() - Date.parse(since));
}
