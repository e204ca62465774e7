import { messageOf } from '@notebridge/kit/message-of';
import type { NotebookHost } from '@notebridge/notebook/host';
import { type HeldNotebooks, HostLink } from '../../broker/host-link.js';
import { writeHostPlace } from '../../broker/host-place.js';
import { JoinListener } from '../../broker/join-listener.js';
import { type NotebookTerms, SharedNotebook } from '../../broker/shared-notebook.js';
import type { SuppliedTools } from '../../broker/supplied-tools.js';
import { BridgeError } from '../../core/errors.js';
import { ownVersion } from '../../state/own-files.js';
import { realFileOf } from './notebook-file.js';
import { type BuiltInNotebook, openBuiltIn } from './open-built-in.js';
import type { NotebookSetup, OpenedNotebook } from './open-notebook.js';

export interface ShareOptions {
  /** With links resolved; undefined for one in memory. */
  file: string | undefined;
  terms: NotebookTerms;
  tools?: SuppliedTools | undefined;
}

/** An open notebook as other processes of the user join it. */
export function toShared({ host, roster, writeAddress, provider }: BuiltInNotebook, { file, terms, tools }: ShareOptions): SharedNotebook {
  const shared = new SharedNotebook({
    provider,
    file,
    terms,
    newWindowUrl: () => host.url,
    save: () => host.save(),
    writeAddress,
    showAgents: (source, agents) => roster.show(source, agents),
    state: () => stateOf(host),
    tools,
  });
  roster.onDisconnect((source) => shared.disconnect(source));
  return shared;
}

function stateOf({ session, openWindows, fileState }: NotebookHost): ReturnType<SharedNotebook['target']['state']> {
  const { kernel, running, queued, document } = session;
  const { name, version } = kernel.info;
  const isLost = fileState.kind === 'conflict' || fileState.kind === 'failed';
  const inMemory = fileState.kind === 'none' && document.cells.length > 0 ? `its ${document.cells.length} cells are in no file` : undefined;
  return {
    windows: openWindows,
    isRunning: running !== undefined || queued.length > 0,
    kernel: `${name} ${version} (${kernel.state})`,
    unsaved: isLost ? fileState.detail : inMemory,
  };
}

/**
 * The built-in notebook on a file, in this process, which agents of other processes join as long as it lives: for a person's terminal and
 * for a hub. Rejects as `openBuiltIn` does.
 */
export async function openShared(
  setup: NotebookSetup,
  { file, readOnly = false }: { file: string; readOnly?: boolean | undefined },
): Promise<BuiltInNotebook & Required<Pick<OpenedNotebook, 'asked'>>> {
  const notebook = await openBuiltIn(setup, { file, readOnly });
  let ask: () => void = () => {};
  const asked = new Promise<void>((resolve) => {
    ask = resolve;
  });
  const path = realFileOf(file);
  const shared = toShared(notebook, { file: path, terms: { sandbox: setup.pages.sandbox ?? 'auto', readOnly } });
  const unpublish = await publish(setup, shared, ask).catch((error: unknown) => {
    setup.logger.warn('Agents of other processes cannot join this notebook.', { error: messageOf(error) });
    return () => {};
  });
  const close = async (): Promise<void> => {
    unpublish();
    await notebook.close();
  };
  return { ...notebook, asked, close };
}

/** Returns what ends it. Rejects with `write_failed`. */
async function publish({ stateDir: dir }: NotebookSetup, shared: SharedNotebook, ask: () => void): Promise<() => void> {
  const { file } = shared.target;
  const held: HeldNotebooks = {
    open: async (request) => {
      if (request.file !== file)
        throw new BridgeError('bad_notebook', `This process holds "${file}", not "${request.file ?? 'a notebook in memory'}".`);
      return { notebook: shared, isNew: false };
    },
    left: () => {},
    all: () => [shared],
    // The answer leaves first.
    stop: async () => void setImmediate(ask),
  };
  const listener = await JoinListener.open({ dir, version: ownVersion(), createHandler: (peer) => new HostLink(peer, held) });
  try {
    const { address, secret } = listener;
    const place = { kind: 'notebook', address, secret, pid: process.pid, startedAt: Date.now(), version: ownVersion() } as const;
    const written = await writeHostPlace(dir, file === undefined ? place : { ...place, file });
    return () => {
      written.remove();
      listener.close();
    };
  } catch (error) {
    listener.close();
    throw error;
  }
}
