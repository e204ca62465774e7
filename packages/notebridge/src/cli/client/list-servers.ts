import type { ServerReport } from '../../catalog/describe-servers.js';
import { printMessage } from '../../core/wire.js';
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
  stdout.write(toText(hub, servers, paint, stdout.isTTY ? stdout.columns : undefined));
}

function toText(hub: string | null, servers: readonly ServerReport[], paint: Paint, width: number | undefined): string {
  const where = hub === null ? 'No hub runs; these were started to look at them, and ended again.' : `Of the hub at ${hub}`;
  if (servers.length === 0) return `${paint.dim(where)}\nThe config names no servers. Add them under "mcpServers"; see docs/tools.md.\n`;
  const rows = servers.map((server) => toRow(server, paint));
  const headings = ['SERVER', 'STATE', 'SINCE', 'TOOLS', 'PID', 'RESTARTS', 'AGENTS SEE'];
  const reasons = servers.filter(({ reason }) => reason !== null).map((server) => toReason(server, paint));
  return `${paint.dim(where)}\n\n${toTable(headings, rows, { paint, width })}${reasons.length === 0 ? '' : `\n${reasons.join('\n')}\n`}`;
}

function toRow({ name, status, since, tools, pid, restarts, expose }: ServerReport, paint: Paint): string[] {
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

function toReason({ name, reason }: ServerReport, paint: Paint): string {
  const lines = withoutControls(reason ?? '')
    .trimEnd()
    .split('\n');
  return `${paint.bold(name)}: ${lines.join('\n  ')}`;
}
