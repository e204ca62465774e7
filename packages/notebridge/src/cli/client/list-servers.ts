import { userConfigFile } from '../../config/load-config.js';
import { printMessage } from '../../core/wire.js';
import type { OwnerBody } from '../../doors/owner/owner-schemas.js';
import { type Paint, paintFor, toDuration, toTable } from '../terminal.js';
import { withoutControls } from '../terminal-logger.js';
import { type SourceOptions, withSource } from './open-source.js';

export interface ListOptions extends SourceOptions {
  json?: boolean;
}

/** Prints the servers, each a line; below them why some do not run. Exit code 0 also then: this is a look, not a check. */
export async function listServers(options: ListOptions): Promise<void> {
  const { hub, servers } = await withSource(options, async (source) => ({ hub: source.hub ?? null, servers: await source.servers() }));
  const { stdout } = process;
  if (options.json === true) return void stdout.write(`${printMessage({ hub, servers })}\n`);
  const paint = paintFor(stdout);
  if (servers.length === 0) return void stdout.write(`${paint.dim(toWhere(hub))}\n${noServersText({ hub, ...options })}\n`);
  stdout.write(toText(hub, servers, paint, stdout.isTTY ? stdout.columns : undefined));
}

/** Where to name some: a newcomer has no config file yet. */
export function noServersText({ hub, config }: { hub: string | null | undefined; config?: string }): string {
  const file = config ?? (hub ? 'the config of the hub' : userConfigFile(process.env));
  return `The config names no servers. Add them under "mcpServers" in ${file}; see docs/tools.md.`;
}

function toWhere(hub: string | null): string {
  return hub === null ? 'No hub runs; these were started to look at them, and ended again.' : `Of the hub at ${hub}`;
}

function toText(hub: string | null, servers: readonly OwnerBody<'Server'>[], paint: Paint, width: number | undefined): string {
  const rows = servers.map((server) => toRow(server, paint));
  const headings = ['SERVER', 'STATE', 'SINCE', 'TOOLS', 'PID', 'RESTARTS', 'AGENTS SEE'];
  const reasons = servers.filter(({ reason }) => reason !== null).map((server) => toReason(server, paint));
  return `${paint.dim(toWhere(hub))}\n\n${toTable(headings, rows, { paint, width })}${reasons.length === 0 ? '' : `\n${reasons.join('\n')}\n`}`;
}

function toRow({ name, status, since, tools, pid, restarts, expose }: OwnerBody<'Server'>, paint: Paint): string[] {
  const colour = {
    running: paint.green,
    failed: paint.red,
    restarting: paint.yellow,
    starting: paint.yellow,
    stopped: paint.dim,
    disabled: paint.dim,
  };
  const age = toDuration(Date.now() - since);
  const seen = { direct: 'its tools', code: 'nothing (code only)', none: 'nothing' }[expose];
  return [
    withoutControls(name),
    colour[status](status),
    age,
    tools === null ? '?' : String(tools.length),
    pid === null ? '-' : String(pid),
    String(restarts),
    seen,
  ];
}

function toReason({ name, reason }: OwnerBody<'Server'>, paint: Paint): string {
  const lines = withoutControls(reason ?? '')
    .trimEnd()
    .split('\n');
  return `${paint.bold(name)}: ${lines.join('\n  ')}`;
}
