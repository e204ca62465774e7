import { printMessage } from '../../core/wire.js';
import type { OwnerBody } from '../../doors/owner/owner-schemas.js';
import { askOwner } from '../client/hub-request.js';
import { asTyped } from '../own-command.js';
import { type Paint, paintFor, toDuration, toTable } from '../terminal.js';
import { onOneLine, withoutControls } from '../terminal-logger.js';
import { toClusterRows, toClusterTrouble } from './cluster-lines.js';
import { ownHub } from './own-hub.js';

/** Calls that failed, of the last ones. */
const mostFailed = 5;

/** Prints the hub on one screen: what is wrong comes first. Rejects with `closed` without a hub. */
export async function showStatus({ json = false }: { json?: boolean }): Promise<void> {
  const hub = await ownHub();
  const { url } = hub;
  const status = await askOwner<'Hub'>(hub, '');
  const { calls } = await askOwner<'Calls'>(hub, `/calls?outcome=failed&limit=${mostFailed}`);
  const { stdout } = process;
  if (json) return void stdout.write(`${printMessage({ url, ...status, failed_calls: calls })}\n`);
  stdout.write(toScreen({ url, status, failed: calls }, paintFor(stdout), stdout.isTTY ? stdout.columns : undefined));
}

interface Screen {
  url: string;
  status: OwnerBody<'Hub'>;
  failed: OwnerBody<'Calls'>['calls'];
}

function toScreen({ url, status, failed }: Screen, paint: Paint, width: number | undefined): string {
  const {
    version,
    pid,
    started_at: startedAt,
    config_file: file,
    config_fault: fault,
    code_mode: isCodeMode,
    servers,
    calls,
    approvals,
    grants,
    cluster,
  } = status;
  const age = toDuration(Date.now() - Date.parse(startedAt));
  const wrong = [
    ...(fault === null
      ? []
      : [
          `${paint.red('config')}  the file is not used, and what held before goes on: ${withoutControls(fault).replaceAll('\n', '\n        ')}`,
        ]),
    ...(cluster === undefined ? [] : toClusterTrouble(cluster, paint)),
    ...servers.filter(isInTrouble).map((server) => toTrouble(server, paint)),
    ...(approvals === 0 ? [] : [`${paint.yellow('waiting')}  for your approval: ${approvals}. See: ${asTyped('notebridge approvals')}`]),
  ];
  const running = servers.filter(({ status: state }) => state === 'running').length;
  const facts = [
    ['Hub', `${url} (version ${version}, pid ${pid}, for ${age})`],
    ['Config', `${file ?? 'none'}${isCodeMode ? '; agents call tools by code' : ''}`],
    [
      'Servers',
      `${servers.length}, ${running} running${servers.length === 0 ? '' : `: ${servers.map(({ name }) => onOneLine(name)).join(', ')}`}`,
    ],
    ['Calls', `${calls.made} made, ${calls.running} under way, ${calls.failed} failed`],
    ['Grants', `${grants} live`],
    ...(cluster === undefined ? [] : toClusterRows(cluster)),
  ];
  const rows = failed.map((call) => toRow(call, paint));
  return [
    ...(wrong.length === 0 ? [] : [`${wrong.join('\n')}\n\n`]),
    toTable([], facts, { paint, width }),
    ...(rows.length === 0 ? [] : [`\n${toTable(['LAST THAT FAILED', 'WHEN', 'BY', 'OUTCOME', 'CALL'], rows, { paint, width })}`]),
  ].join('');
}

type StatedServer = OwnerBody<'Hub'>['servers'][number];

function isInTrouble({ status, starting_late: isLate }: StatedServer): boolean {
  return status === 'failed' || status === 'restarting' || isLate;
}

function toTrouble({ name, status, since, reason, starting_late: isLate }: StatedServer, paint: Paint): string {
  const late = `for ${toDuration(Date.now() - since)}, longer than it usually takes`;
  const why = [isLate ? late : undefined, reason ?? (isLate ? undefined : 'no reason is known')].filter((part) => part !== undefined);
  const told = withoutControls(why.join('; ')).replaceAll('\n', '\n        ');
  const state = isLate ? paint.yellow(status) : paint.red(status);
  return `${state}  ${onOneLine(name)}: ${told}\n        ${paint.dim(asTyped(`notebridge logs --server ${name}`))}`;
}

function toRow({ server, tool, outcome, started_at: startedAt, call_id: id, caller }: OwnerBody<'Call'>, paint: Paint): string[] {
  const what = onOneLine([server, tool].filter((part) => part !== null && part !== '').join(':') || 'a request');
  const who = onOneLine(caller.label ?? caller.client ?? caller.kind);
  return [what, `${toDuration(Date.now() - Date.parse(startedAt))} ago`, who, paint.red(outcome ?? ''), id];
}
