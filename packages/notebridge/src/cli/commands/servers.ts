import { userConfigFile } from '../../config/load-config.js';
import type { OwnerBody } from '../../doors/owner/owner-schemas.js';
import { withSource } from '../client/open-source.js';
import { sharedOptions } from '../command-options.js';
import { defineCommand, type OptionsOf } from '../define-command.js';
import { paint, printJsonLine, printTable, toDuration } from '../terminal.js';
import { withoutControls } from '../terminal-logger.js';

/** Where the servers are looked for. */
export const sourceOptions = [sharedOptions.json, sharedOptions.config, sharedOptions.standalone];

/** `notebridge servers`: the servers of the config and their status. */
export const serversCommand = defineCommand({ options: sourceOptions, run: listServers });

/** Prints the servers, each a line; below them why some do not run. Exit code 0 also then: this is a look, not a check. */
async function listServers({ json, ...options }: OptionsOf<typeof sourceOptions>): Promise<void> {
  const { hub, servers } = await withSource(options, async (source) => ({ hub: source.hub ?? null, servers: await source.servers() }));
  if (json) return printJsonLine({ hub, servers });
  process.stdout.write(`${paint.dim(toWhere(hub))}\n`);
  if (servers.length === 0) return void process.stdout.write(`${noServersText({ hub, ...options })}\n`);
  process.stdout.write('\n');
  printTable(['SERVER', 'STATE', 'SINCE', 'TOOLS', 'PID', 'RESTARTS', 'AGENTS SEE'], servers.map(toRow));
  const reasons = servers.filter(({ reason }) => reason !== null).map(toReason);
  if (reasons.length > 0) process.stdout.write(`\n${reasons.join('\n')}\n`);
}

/** Where to name some: a newcomer has no config file yet. */
export function noServersText({ hub, config }: { hub: string | null | undefined; config?: string }): string {
  const file = config ?? (hub ? 'the config of the hub' : userConfigFile(process.env));
  return `The config names no servers. Add them under "mcpServers" in ${file}; see docs/tools.md.`;
}

function toWhere(hub: string | null): string {
  return hub === null ? 'No hub runs; these were started to look at them, and ended again.' : `Of the hub at ${hub}`;
}

function toRow({ name, status, since, tools, pid, restarts, expose }: OwnerBody<'Server'>): string[] {
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

function toReason({ name, reason }: OwnerBody<'Server'>): string {
  const lines = withoutControls(reason ?? '')
    .trimEnd()
    .split('\n');
  return `${paint.bold(name)}: ${lines.join('\n  ')}`;
}
