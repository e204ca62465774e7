import { resolve } from 'node:path';
import { ownVersion } from '@notebridge/system/files/own-files';
import type { Notebridge } from '../../assembly/create-notebridge.js';
import { clusterOption, loadClusterConfig } from '../cluster/cluster-option.js';
import { listOption, numberWithin, parseHubName, parsePort, sharedOptions } from '../command-options.js';
import { defineCommand, type OptionsOf, option } from '../define-command.js';
import { ownCommand } from '../own-command.js';
import { createOwnNotebridge } from '../own-notebridge.js';
import { nextSignal } from '../process-life.js';
import { openRecorder } from '../record/open-recorder.js';
import { paintFor } from '../terminal.js';
import { createStderrLogger } from '../terminal-logger.js';
import { newTypedCode } from './code.js';

const options = [
  sharedOptions.config,
  option('--port <number>', 'port of everything; 0 for any free one', { default: 8765, parse: parsePort }),
  option('--host <address>', 'address to listen on (default: loopback, both families)'),
  option('--name <name>', 'what your commands call this hub where several of yours run: --hub NAME (default: hub)', {
    parse: parseHubName,
  }),
  option('--no-auth', 'ask for no token; on loopback only, and any program that can reach the port can call every tool'),
  option(
    '--notebook <where>',
    '"colab", "local" (built in), "jupyter[=ADDRESS]" (your JupyterLab), an .ipynb file, the URL of a Colab notebook, or "none"',
    { default: 'colab' },
  ),
  sharedOptions.kernel,
  sharedOptions.sandbox,
  sharedOptions.files,
  sharedOptions.allowNet,
  sharedOptions.codeMode,
  sharedOptions.list,
  sharedOptions.noBrowser,
  sharedOptions.noJournal,
  listOption('--allow-host <host>', 'answer to this host name too (repeatable, exact)'),
  listOption('--allow-origin <origin>', 'answer web pages of this origin (repeatable, exact)'),
  option('--servers-ready-ms <ms>', 'how long /readyz says no for a server that is slow to start with the hub (default: 10000)', {
    parse: numberWithin(0, 3_600_000, 'A time is a whole number of milliseconds, at most an hour.'),
  }),
  option('--shared-dir <dir>', 'folder shared with kernels: bindings are kept in its "generated", skills are read from its "skills"', {
    parse: (dir: string) => resolve(dir),
  }),
  option('--record <file>', 'write what is said with servers and pages to a new file, without secrets; "notebridge replay" serves it', {
    parse: (file: string) => resolve(file),
  }),
  clusterOption('--cluster <urls>', 'share the work with other hubs over this NATS, such as nats://host:4222; more of it is in the config'),
  sharedOptions.logLevel,
];

/** `notebridge serve`: the hub as a service, every door on one port. */
export const serveCommand = defineCommand({ options, run: runServe });

type ServeOptions = OptionsOf<typeof options>;

/** From a signal to the end, whatever does not close; behind the time for calls to end. Milliseconds. */
const endMs = 3000;

/** Serves until a signal comes. Rejects with `bad_usage`, `bad_config`, `port_in_use` or `write_failed`, leaving nothing open. */
async function runServe(given: ServeOptions): Promise<void> {
  const { port, host, auth, allowHost: allowHosts, allowOrigin: allowOrigins, serversReadyMs, name, sharedDir, record } = given;
  const bridge = await createOwnNotebridge(given, {
    command: 'serve',
    config: given.cluster && (await loadClusterConfig(given.config, given.cluster)),
    hold: 'shared',
    http: { port, host, auth, allowHosts, allowOrigins, serversReadyMs, name },
    sharedDir,
    createLogger: (redactor) => createStderrLogger(redactor, { level: given.logLevel, format: process.stderr.isTTY ? 'text' : 'json' }),
    ...(record === undefined ? {} : { createRecorder: openRecorder({ file: record }) }),
  });
  const signal = nextSignal();
  void signal.then(() => setTimeout(() => process.exit(), bridge.drainMs + endMs).unref());
  try {
    await bridge.start();
    await reportStart(bridge, given);
    const why = await Promise.race([signal, ...(bridge.notebook?.asked === undefined ? [] : [bridge.notebook.asked])]);
    await drain(bridge, why);
  } finally {
    await bridge.close();
  }
}

/** A service manager lets calls end. Whoever types Ctrl-C, or sends a second signal, waits for none. */
async function drain(bridge: Notebridge, why: unknown): Promise<void> {
  const { hub, drainMs, cluster } = bridge;
  const atOnce = new AbortController();
  if (why === 'SIGTERM' && drainMs > 0) {
    void nextSignal().then(() => atOnce.abort());
    const others = cluster === undefined ? '' : '; other hubs take over what this one has';
    hub.logger.info(`Ending: calls that run here may still end, for ${drainMs / 1000} s${others}.`);
  } else {
    atOnce.abort();
    hub.logger.info('Ending.');
  }
  await bridge.drain(atOnce.signal);
}

async function reportStart(bridge: Notebridge, options: ServeOptions): Promise<void> {
  const { hub, url, servers, notebook } = bridge;
  const { isTTY } = process.stderr;
  const window = notebook?.newWindow?.();
  // The address holds the token: a terminal may show it, and a log may not.
  const path = isTTY ? undefined : await window?.writeAddress();
  const names = servers.all().map(({ name }) => name);
  hub.logger.info('Serving.', { url: url ?? '', pid: process.pid, servers: names, ...(path === undefined ? {} : { window_file: path }) });
  if (isTTY) process.stderr.write(toStartText(bridge, { ...options, names, windowUrl: window?.url }));
}

type StartTextOptions = ServeOptions & { names: readonly string[]; windowUrl: string | undefined };

/** What a person reads after starting a hub: where it is, and how to use it. Its addresses and its code are secrets: for a terminal only. */
function toStartText(bridge: Notebridge, { auth, notebook, name, names, windowUrl }: StartTextOptions): string {
  const { url = '', cluster } = bridge;
  const consoleAddress = bridge.newConsoleAddress();
  const paint = paintFor(process.stderr);
  const [first = 'SERVER'] = names;
  // Others of this user may run, or come.
  const command = name === undefined ? ownCommand() : `${ownCommand()} --hub ${name}`;
  const token = (options: string): string => (auth ? `$(${command} grant${options})` : 'none');
  const lines = [
    '',
    `${paint.bold(`Notebridge ${ownVersion()}`)} serves at ${paint.bold(url)}. Ctrl-C ends it.`,
    '',
    `  Servers       ${names.length === 0 ? 'none yet: name some in the config file' : names.join(', ')}`,
    ...(cluster === undefined ? [] : [`  Cluster       ${toClusterText(cluster)}`]),
    ...(notebook === 'none' ? [] : [`  Notebook      ${notebook}`]),
    ...(windowUrl === undefined ? [] : [`  Its window    ${windowUrl}`]),
    ...(consoleAddress === undefined
      ? []
      : [`  Its console   ${consoleAddress}`, `                ${paint.dim(`once, within 15 minutes; later: ${command} console`)}`]),
    `  Asked a code? ${newTypedCode()} ${paint.dim(`(another user, a proxy, a forwarded port); later: ${command} code`)}`,
    `  What is there ${paint.dim('$')} ${command} tools`,
    `  Call a tool   ${paint.dim('$')} ${command} call ${first} TOOL key=value`,
    `  From code     POST ${url}/api/v1/mcp/proxy/${first}/tools/TOOL`,
    `                ${paint.dim('$')} export NOTEBRIDGE_TOKEN=${token(' --ttl 8h')}`,
    `  For an agent  ${url}/mcp`,
    ...(auth ? [`                with "Authorization: Bearer ${token(' --agent --ttl 8h')}"`] : []),
    `  Described at  ${url}/docs`,
    '',
  ];
  return `${lines.join('\n')}\n`;
}

function toClusterText({ name, hubs: [self = '', ...others], isJoined }: NonNullable<Notebridge['cluster']>): string {
  if (!isJoined) return `${name}: not joined yet, as NATS was not reached; it goes on trying`;
  return `${name}: ${self} (this hub)${others.length === 0 ? ', alone so far' : `, ${others.join(', ')}`}`;
}
