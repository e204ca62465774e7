import { Command } from 'commander';
import { loadConfig } from '../../config/load-config.js';
import { loadMiddlewareModules } from '../../config/load-middleware.js';
import { BridgeError } from '../../core/errors.js';
import { serveStdio } from '../../doors/mcp/stdio.js';
import { colabProfile } from '../../notebooks/profiles/colab.js';
import type { PageProfile } from '../../notebooks/profiles/profile.js';
import type { BrowserResult } from '../../processes/browser.js';
import { ColabSessionProxy } from '../../reference/colab-session-proxy.js';
import { McpHost } from '../../reference/mcp-host.js';
import { createFileLogger } from '../../state/file-logger.js';
import { Redactor } from '../../util/redactor.js';
import { addHubOptions, type HubCommandOptions } from '../options.js';
import { ownVersion } from '../version.js';

export function stdioCommand(): Command {
  const command = new Command('stdio').description('an MCP server on stdin and stdout, for an agent host (the default command)');
  return addHubOptions(command).action((options: HubCommandOptions) => runStdio(options));
}

/** Serves one agent until it closes its end, or a signal comes; then closes everything. */
async function runStdio(options: HubCommandOptions): Promise<void> {
  const profile = toProfile(options.notebook);
  const config = await loadConfig({ ...(options.config === undefined ? {} : { file: options.config }), env: process.env });
  const middlewares = await loadMiddlewareModules(config.middleware, config.baseDir);
  const redactor = new Redactor();
  const logger = createFileLogger({
    dir: options.logDir,
    name: `${new Date().toISOString().replaceAll(':', '-')}-stdio-${process.pid}`,
    level: options.logLevel,
    redactor,
    onWarning: (text) => process.stderr.write(`notebridge: ${text}\n`),
  });
  const serverInfo = { name: 'notebridge', title: 'Notebridge', version: ownVersion() };
  const { maxMessageBytes, maxInFlight, ...times } = config.limits;
  const session = new ColabSessionProxy({
    ...times,
    maxMessageBytes,
    profile,
    logger,
    clientInfo: serverInfo,
    port: options.port,
    list: options.list,
    allowHosts: options.allowHost,
    allowOrigins: options.allowOrigin,
    ...(options.browser ? {} : { openBrowser: async () => browserSwitchedOff }),
  });
  const host = new McpHost({ serverInfo, logger });
  // A middleware that forgets an await must not cost the agent its notebook.
  process.on('unhandledRejection', (error) => logger.error('A promise was rejected and nobody listened.', { error: stackOf(error) }));
  process.on('uncaughtExceptionMonitor', (error) => logger.error('An unexpected fault ends the program.', { error: stackOf(error) }));
  try {
    await session.startProxyServer();
    if (session.wss === null || session.proxyServer === null) throw new BridgeError('not_started', 'The session proxy did not start.');
    redactor.add(session.wss.token);
    host.mount(session.proxyServer);
    // The user's own stand outermost: they see every message as the agent does.
    for (const middleware of [...middlewares, ...session.middleware]) host.addMiddleware(middleware);
    for (const { name } of config.servers)
      logger.warn(`The server "${name}" of the config is not started: this version serves notebooks only.`);
    const door = serveStdio(host, { maxMessageLength: maxMessageBytes, maxInFlight });
    logger.info('Serving an agent over stdio.', { port: session.wss.port, list: options.list });
    await Promise.race([door.closed, untilSignal()]);
    door.close();
    await door.closed;
  } finally {
    host.close();
    await session.cleanup();
    await logger.close();
  }
}

function stackOf(error: unknown): string {
  return (error instanceof Error ? error.stack : undefined) ?? String(error);
}

const browserSwitchedOff: BrowserResult = { opened: false, reason: 'no_display', hint: 'Opening one is switched off (--no-browser).' };

/** The Colab profile, opening the notebook that was asked for. */
function toProfile(notebook: string): PageProfile {
  if (notebook === 'colab') return colabProfile;
  if (URL.canParse(notebook) && colabProfile.origins.includes(new URL(notebook).origin)) return { ...colabProfile, defaultUrl: notebook };
  throw new BridgeError(
    'bad_usage',
    `--notebook "${notebook}" cannot be used: this version works in "colab", or in a notebook whose URL is on ${colabProfile.origins.join(' or ')}.`,
  );
}

/** After a signal, an agent that does not read its last answers puts off our end by no more than this. Milliseconds. */
const lastWordsMs = 2000;

function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    const obey = (): void => {
      setTimeout(() => process.exit(), lastWordsMs).unref();
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, obey);
  });
}
