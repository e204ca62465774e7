import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { codeOf } from '@notebridge/protocol/core/errors';
import type { LeftOutEntry } from '@notebridge/protocol/core/tool-server';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { quote } from '@notebridge/protocol/util/quote';
import type { Redactor } from '@notebridge/protocol/util/redactor';
import { stateDir } from '@notebridge/system/processes/state-dir';
import type { HubOfCluster } from '../../assembly/cluster/look-at-cluster.js';
import { ConfigServers } from '../../assembly/config-servers.js';
import { ownServerInfo } from '../../assembly/settings.js';
import type { Config } from '../../config/config.js';
import type { ServerConfig } from '../../config/server-config.js';
import { ApprovalPolicy } from '../../grants/approvals/approval-policy.js';
import { pushHint } from '../../upstreams/push-only.js';
import { isInCluster } from '../grants/grant-desk.js';
import { askOwner } from '../hub/hub-request.js';
import { onOneLine } from '../terminal-logger.js';
import { type Check, failedCheck, note, ok } from './check.js';
import { findOwnHub } from './check-hub.js';

/** Of a `per-agent` server: what counts as one agent. */
const whoIsOne = 'runs once for each agent, which over HTTP in 2026-07-28 means each token and client name: one grant per agent';

/** Starts each server, all at once, and asks for its tools; then all are ended. One that a cluster has once is not started. */
export async function checkServers(config: Config, redactor: Redactor, cluster: ClusterSeen): Promise<Check[]> {
  const hasOne = config.servers.some(({ placement, disabled }) => placement === 'one' && !disabled);
  const checkOne = hasOne ? await findCheckOfOne(cluster) : undefined;
  const servers = new ConfigServers({
    config,
    logger: silentLogger,
    redactor,
    serverInfo: ownServerInfo(),
    stateDir: stateDir(),
    env: process.env,
  });
  try {
    const policy = new ApprovalPolicy(config, []);
    return await Promise.all(config.servers.map((server) => checkServer(server, { servers, policy, checkOne })));
  } finally {
    await servers.close();
  }
}

interface CheckServerParts {
  servers: ConfigServers;
  policy: ApprovalPolicy;
  checkOne: CheckOneServer | undefined;
}

async function checkServer(config: ServerConfig, { servers, policy, checkOne }: CheckServerParts): Promise<Check> {
  const name = `server ${config.name}`;
  if (config.disabled) return note(name, 'disabled in the config');
  const missing = config.transport === 'stdio' ? missingCommand(config) : undefined;
  if (missing !== undefined) return failedCheck(name, missing, `Install it, or fix "command" of "${config.name}" in the config.`);
  if (config.placement === 'one' && checkOne !== undefined) return checkOne(config);
  const startedAt = performance.now();
  try {
    const listing = servers.get(config.name);
    const tools = (await listing?.listTools()) ?? [];
    const leftOut = (await listing?.findLeftOut?.()) ?? [];
    if (leftOut.length > 0)
      return failedCheck(
        name,
        describeLeftOut(leftOut),
        'Update the server, or tell its maintainers. A tool that is named in "tools.deny" is not reported.',
      );
    const asked = tools.filter((tool) => policy.asksAbout(config.name, tool)).length;
    const text = `${config.transport === 'stdio' ? 'starts' : 'answers'} and lists ${tools.length} tools${asked === 0 ? '' : `, of which a person approves ${asked}`}`;
    const pushing = listing?.pushingTools ?? [];
    if (pushing.length > 0) return note(name, `${text}; ${describePushing(pushing)}`, pushHint);
    return ok(name, config.instances === 'per-agent' ? `${text}; ${whoIsOne}` : text, performance.now() - startedAt);
  } catch (error) {
    if (codeOf(error) === 'login_required') return failedCheck(name, messageOf(error), 'Run that command, then this one again.');
    const next =
      config.transport === 'stdio'
        ? 'Run its command in a shell to see more; fix "command", "args" or "env" in the config.'
        : 'Check that it runs, and fix "url" or "headers" in the config.';
    return failedCheck(name, messageOf(error), next);
  }
}

/** Entries that are named one by one. */
const maxNamed = 5;

function describeLeftOut(leftOut: readonly LeftOutEntry[]): string {
  const named = leftOut.slice(0, maxNamed).map(({ what, why }) => `${what}, since ${why}`);
  const more = leftOut.length > maxNamed ? [`${leftOut.length - maxNamed} more`] : [];
  return `lists what no client can use; it is left out: ${[...named, ...more].join('; ')}`;
}

function describePushing(tools: readonly string[]): string {
  return `${tools.map((tool) => quote(tool)).join(', ')} failed, since a server that speaks 2026-07-28 cannot ask by a request to its client`;
}

/** Undefined if the command can be found. Only looked up: the start itself says the rest. */
function missingCommand({ command, env, cwd }: Extract<ServerConfig, { command: string }>): string | undefined {
  if (process.platform === 'win32') return undefined;
  if (command.includes('/')) {
    const path = isAbsolute(command) ? command : resolve(cwd ?? process.cwd(), command);
    return isExecutable(path) ? undefined : `"${command}" is no program that can be run`;
  }
  const folders = (env.PATH ?? process.env.PATH ?? '').split(delimiter);
  return folders.some((folder) => isExecutable(join(folder, command))) ? undefined : `the command "${command}" is not on PATH`;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Looks at a server with `placement: one` without starting it: the hubs decide by a claim who does, and one outside of them has none. */
type CheckOneServer = (server: ServerConfig) => Check;

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
      return toPlacedCheck(title, `the hub ${onOneLine(quote(hub.name))} of the cluster has it`, onOneLine(String(claim.about.status)));
  }
  const found = 'no hub of the cluster has it just now; it was not started here, since a hub is to run the only one';
  if (hubs.length === 0) return note(title, found, 'Start a hub: notebridge serve. Then run this again.');
  if (lazy) return ok(title, `${found}. The first call starts it`);
  return note(title, found, 'Run this again. If it stays so, look whether it is in the config of the hubs.');
}

function checkAtOwnHub({ name }: ServerConfig, status: string | undefined): Check {
  const title = `server ${name}`;
  if (status !== undefined) return toPlacedCheck(title, 'a hub of the cluster has it, as your running hub says', status);
  return note(
    title,
    'not started here, since the cluster is to have one; which hub runs it could not be asked',
    'Fix what is said of the cluster above, then run this again.',
  );
}

function toPlacedCheck(title: string, who: string, status: string): Check {
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
