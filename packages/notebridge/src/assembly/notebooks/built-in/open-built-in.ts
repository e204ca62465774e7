import { join } from 'node:path';
import type { NotebookHost, RunPlace } from '@notebridge/notebook/host';
import { BridgeError, type ErrorCode } from '@notebridge/protocol/core/errors';
import { isJsonObject } from '@notebridge/protocol/json';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { ownConnections } from '@notebridge/system/net/connections';
import { ownUserId } from '@notebridge/system/processes/own-user';
import { acceptTypedCodes } from '../../../identity/typed-codes.js';
import { LayeredProvider } from '../../../middleware/layered-provider.js';
import { AgentRoster } from '../../../notebooks/local/agent-roster.js';
import { AgentWatchMiddleware } from '../../../notebooks/local/agent-watch.js';
import { KernelNewsMiddleware } from '../../../notebooks/local/kernel-news.js';
import { LocalNotebook } from '../../../notebooks/local/local-notebook.js';
import { ReadBeforeWriteMiddleware } from '../../../notebooks/reads/read-before-write.js';
import { loadNotebook } from '../../load-notebook.js';
import { findRunPlaces } from '../../run-places.js';
import { createTrustedFolders } from '../../trusted-folders.js';
import { assertNotebookName } from '../notebook-name.js';
import { browserSwitchedOff, type NotebookSetup, type OpenedNotebook } from '../open-notebook.js';
import { WindowFile } from './window-file.js';

export interface BuiltInOptions {
  /** The notebook's file, made if it is not there; undefined for one in memory. */
  file: string | undefined;
  /** All links of `file` are resolved, and what is one now was put there since. Default false. */
  isRealFile?: boolean | undefined;
  readOnly?: boolean | undefined;
  /** The config of who opens it, which names commands: code in a sandbox neither sees nor changes it. Default: that of this process. */
  configFile?: string | undefined;
  /** The files and folders that the config in `configFile` has run or imported. Default: those of the config that this process has read. */
  runs?: readonly RunPlace[] | undefined;
}

/** The built-in notebook, and its host for callers that show it. */
export interface BuiltInNotebook extends OpenedNotebook {
  host: NotebookHost;
  /** The agents that its windows show. */
  roster: AgentRoster;
  /** Writes the address of a window into a file of the user's own, and a new one each minute. Returns its path. Rejects with `write_failed`. */
  writeAddress: () => Promise<string>;
}

const renewAddressMs = 60_000;

/** Opens the built-in notebook on a file. Rejects with `bad_usage` for a name that is no notebook's, `bad_notebook`, `port_in_use`, `sandbox_unavailable`. */
export async function openBuiltIn(
  setup: NotebookSetup,
  { file, isRealFile, readOnly, configFile = setup.config.file, runs = findRunPlaces(setup.config) }: BuiltInOptions,
): Promise<BuiltInNotebook> {
  if (file !== undefined) assertNotebookName(file);
  const { stateDir, env, logger, redactor, pages, pagePort, onRefused } = setup;
  const tools = await setup.openTools?.();
  const { cellIdsIn, createNotebookHost, trustedOutputsIn, windowSeatsIn } = await loadNotebook(stateDir);
  const host = createNotebookHost({
    file,
    isRealFile,
    readOnly: readOnly ?? false,
    kernels: { wanted: pages.kernel, isAttended: pages.attended, trust: createTrustedFolders(stateDir, { uid: ownUserId() }), env },
    sandbox: pages.sandbox,
    files: pages.files,
    allowNet: pages.allowNet,
    ours: [stateDir, ...(configFile === undefined ? [] : [configFile])],
    runs,
    // Its windows have a port of their own; that of the hub is taken.
    port: pagePort === undefined ? (pages.port ?? 0) : 0,
    allowHosts: pages.allowHosts,
    allowOrigins: pages.allowOrigins,
    connections: ownConnections,
    logger,
    tools,
    cellIds: cellIdsIn(join(stateDir, 'cell-ids')),
    trustedOutputs: trustedOutputsIn(join(stateDir, 'trusted-outputs.json')),
    seats: windowSeatsIn(join(stateDir, 'windows')),
    onSecret: (secret) => redactor.add(secret),
    typedCodes: acceptTypedCodes(stateDir),
    onRefused: (reason, remoteAddress) => onRefused({ door: 'window', reason, remoteAddress }),
  });
  try {
    await host.start();
  } catch (error) {
    await tools?.close();
    throw toOpenFault(error);
  }
  const windowFile = new WindowFile(stateDir);
  let renewing: NodeJS.Timeout | undefined;
  let written: Promise<unknown> | undefined;
  const write = (): Promise<string> => windowFile.write(host.url);
  const writeAddress = (): Promise<string> => {
    // Each address opens one window, and for a quarter of an hour: without a terminal, the file is the only way to another one.
    renewing ??= setInterval(() => void writeAddress().catch(() => {}), renewAddressMs).unref();
    // One after the other, so that closing waits for all of them. A host that is closed has no address, and throws.
    const writing = (written ?? Promise.resolve()).then(write, write);
    written = writing;
    return writing;
  };
  const notebook = new LocalNotebook({
    host,
    writeAddress,
    hasTools: tools !== undefined,
    answerTimeoutMs: setup.config.limits.answerTimeoutMs,
    ...(pages.openBrowser !== false ? {} : { openBrowser: async () => browserSwitchedOff }),
  });
  const provider = new LayeredProvider(notebook, [new KernelNewsMiddleware(host), new ReadBeforeWriteMiddleware()]);
  const roster = new AgentRoster(host);
  const ended = new Promise<void>((resolve) => roster.onDisconnect((source) => void (source === ownAgents && resolve())));
  const close = async (): Promise<void> => {
    clearInterval(renewing);
    provider.close();
    try {
      await host.close();
    } finally {
      await written?.catch(() => {});
      windowFile.remove();
      await tools?.close();
    }
  };
  const watch = new AgentWatchMiddleware((agents) => roster.show(ownAgents, agents));
  const newWindow = () => ({ url: host.url, writeAddress });
  const endSession = (sessionId: string): void => watch.endSession(sessionId);
  const middlewares = [...(tools?.middlewares ?? []), watch];
  return { host, roster, writeAddress, newWindow, provider, middlewares, ended, endSession, close };
}

/** The agents of this process itself, beside those of processes that join. */
export const ownAgents = 'own';

/** `data.holder`: the process that has the file open. `data.kernel`: the kernel that cannot be used. */
function toOpenFault(error: unknown): BridgeError {
  const code = isJsonObject(error) ? error.code : undefined;
  const data = isJsonObject(error) && isJsonObject(error.data) ? error.data : {};
  const holder = code === 'file_in_use' && typeof data.pid === 'number' ? { holder: data.pid } : {};
  const kernel = isKernelFault(code) ? { kernel: data.kernel ?? null } : {};
  return new BridgeError(toBridgeCode(code), messageOf(error), { cause: error, data: { ...holder, ...kernel } });
}

/** Rejections of the host as the command reports them. */
function toBridgeCode(code: unknown): ErrorCode {
  if (code === 'port_in_use' || code === 'sandbox_unavailable') return code;
  return isKernelFault(code) ? 'bad_usage' : 'bad_notebook';
}

function isKernelFault(code: unknown): boolean {
  return code === 'unknown_kernel' || code === 'kernel_unusable';
}
