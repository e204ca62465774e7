import type { NotebookHost } from '@notebridge/notebook/host';
import { BridgeError, messageOf } from '../../core/errors.js';
import { AgentWatchMiddleware } from '../../notebooks/local/agent-watch.js';
import { LocalNotebook } from '../../notebooks/local/local-notebook.js';
import { isJsonObject } from '../../util/json.js';
import { browserSwitchedOff, type HubSetup, type NotebookSource } from '../hub-setup.js';

export interface LocalOptions {
  /** The notebook's file, made if it is not there; undefined for one in memory. */
  file: string | undefined;
  readOnly?: boolean | undefined;
}

/** The built-in notebook, and its host for whoever wants to show it. */
export interface LocalSource extends NotebookSource {
  host: NotebookHost;
}

/** Opens the built-in notebook on a file. Rejects with `bad_notebook` for a file that is none, `port_in_use`, `write_failed`. */
export async function openLocal(setup: HubSetup, { file, readOnly }: LocalOptions): Promise<LocalSource> {
  const { options, logger, redactor, pages } = setup;
  const tools = await setup.openTools?.();
  const { createNotebookHost } = await import('@notebridge/notebook/host');
  const host = createNotebookHost({
    file,
    readOnly: readOnly ?? false,
    // Its windows have a port of their own; that of the hub is taken.
    port: pages === undefined ? options.port : 0,
    allowHosts: options.allowHost,
    allowOrigins: options.allowOrigin,
    logger,
    tools,
  });
  try {
    await host.start();
  } catch (error) {
    await tools?.close();
    const isPort = isJsonObject(error) && error.code === 'port_in_use';
    throw new BridgeError(isPort ? 'port_in_use' : 'bad_notebook', messageOf(error), { cause: error });
  }
  redactor.add(new URL(host.url).hash.replace('#token=', ''));
  const provider = new LocalNotebook({
    host,
    hasTools: tools !== undefined,
    ...(options.browser ? {} : { openBrowser: async () => browserSwitchedOff }),
  });
  const ended = new Promise<void>((resolve) => host.onDisconnectAgent(() => resolve()));
  const close = async (): Promise<void> => {
    try {
      await host.close();
    } finally {
      await tools?.close();
    }
  };
  return { host, provider, middlewares: [new AgentWatchMiddleware(host)], ended, close };
}
