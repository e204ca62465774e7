import type { Notebridge } from '../../assembly/create-notebridge.js';
import type { ClosableLogger } from '../../state/closable-logger.js';
import type { Redacting } from '../../util/redactor.js';
import { loadClusterConfig } from '../cluster/load-cluster-config.js';
import type { HubCommandOptions } from '../command-options.js';
import { newTypedCode } from '../hub/print-code.js';
import { createOwnNotebridge } from '../own-notebridge.js';
import { nextSignal } from '../process-life.js';
import { defaultRecordingBytes, openRecorder } from '../record/open-recorder.js';
import { paintFor } from '../terminal.js';
import { createTerminalLogger } from '../terminal-logger.js';
import { toStartText } from './start-text.js';

export interface ServeOptions extends HubCommandOptions {
  host?: string;
  /** False: no token is required. */
  auth: boolean;
  sharedDir?: string;
  serversReadyMs?: number;
  name?: string;
  /** A file that does not exist yet. Absolute. */
  record?: string;
  /** Servers of NATS, in place of those of the config. */
  cluster?: string[];
}

/** From a signal to the end, whatever does not close; behind the time for calls to end. Milliseconds. */
const endMs = 3000;

/** Serves until a signal comes. Rejects with `bad_usage`, `bad_config`, `port_in_use` or `write_failed`, leaving nothing open. */
export async function runServe(options: ServeOptions): Promise<void> {
  const { port, host, auth, allowHost: allowHosts, allowOrigin: allowOrigins, serversReadyMs, name, sharedDir, record } = options;
  const bridge = await createOwnNotebridge(options, {
    command: 'serve',
    config: options.cluster && (await loadClusterConfig(options.config, options.cluster)),
    hold: 'shared',
    http: { port, host, auth, allowHosts, allowOrigins, serversReadyMs, name },
    sharedDir,
    createLogger: (redactor) => createServeLog(options, redactor),
    ...(record === undefined ? {} : { createRecorder: openRecorder({ file: record, maxBytes: defaultRecordingBytes }) }),
  });
  const signal = nextSignal();
  void signal.then(() => setTimeout(() => process.exit(), bridge.drainMs + endMs).unref());
  try {
    await bridge.start();
    await reportStart(bridge, options);
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
  const { hub, url = '', servers, notebook } = bridge;
  const all = servers?.all() ?? [];
  const { isTTY } = process.stderr;
  const window = notebook?.newWindow?.();
  // The address holds the token: a terminal may show it, and a log may not.
  const path = isTTY ? undefined : await window?.writeAddress();
  const seen = { url, pid: process.pid, servers: all.map(({ name }) => name), ...(path === undefined ? {} : { window_file: path }) };
  hub.logger.info('Serving.', seen);
  if (!isTTY) return;
  const addresses = {
    windowUrl: window?.url,
    consoleAddress: bridge.newConsoleAddress(),
    typedCode: newTypedCode(),
    cluster: bridge.cluster,
  };
  process.stderr.write(toStartText({ url, options, servers: all, ...addresses, paint: paintFor(process.stderr) }));
}

function createServeLog({ logLevel }: ServeOptions, redactor: Redacting): ClosableLogger {
  const { stderr } = process;
  const format = stderr.isTTY ? 'text' : 'json';
  return createTerminalLogger({ level: logLevel, redactor, write: (text) => stderr.write(text), format, paint: paintFor(stderr) });
}
