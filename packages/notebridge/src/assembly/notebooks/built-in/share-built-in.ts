import type { NotebookHost } from '@notebridge/notebook/host';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { ownVersion } from '@notebridge/system/files/own-files';
import type { Environment } from '@notebridge/system/processes/environment';
import { type HeldNotebooks, HostLink } from '../../../broker/host-link.js';
import { writeHostPlace } from '../../../broker/host-place.js';
import { JoinListener } from '../../../broker/join-listener.js';
import { fileOf, type NotebookAddress } from '../../../broker/notebook-address.js';
import { idFor } from '../../../broker/notebook-ids.js';
import type { NotebookTerms } from '../../../broker/notebook-terms.js';
import { type JoinTarget, SharedNotebook } from '../../../broker/shared-notebook.js';
import type { SuppliedTools } from '../../../broker/supplied-tools.js';
import { nameOfAgent } from '../../../notebooks/call-notebook-tool.js';
import { realFileOf } from '../notebook-file.js';
import type { NotebookSetup, OpenedNotebook } from '../open-notebook.js';
import { leaseIdleIn, toTerms } from '../page-options.js';
import { type BuiltInNotebook, openBuiltIn, ownAgents } from './open-built-in.js';
import { describeBuiltIn, watchBuiltIn } from './watch-built-in.js';

export interface ShareOptions {
  id: string;
  /** With links resolved; undefined for one in memory. */
  file: string | undefined;
  terms: NotebookTerms;
  tools?: SuppliedTools | undefined;
  env: Environment;
}

/** An open notebook as other processes of the user join it. */
export function toShared(
  { host, roster, writeAddress, provider }: BuiltInNotebook,
  { id, file, terms, tools, env }: ShareOptions,
): SharedNotebook {
  const target: JoinTarget = {
    provider,
    address: toAddress(file),
    // With what a person has allowed since: who insists on less is not let in.
    get terms() {
      const { files, allowNet } = host.reach ?? terms;
      return { ...terms, allowNet, ...(files === undefined ? {} : { files }) };
    },
    describe: () => describeBuiltIn(host, file),
    kernel: {
      isUsing: (kernel) => host.isUsing(kernel),
      offer: (kernel) => void host.offerKernel(kernel),
      isolation: () => host.kernelChoice?.isolation,
    },
    window: { newUrl: (lifeMs) => host.newUrl(lifeMs), writeAddress },
    save: () => host.save(),
    showAgents: (source, agents) => roster.show(source, agents),
    state: () => stateOf(host),
    tools,
    person: { canAsk: () => host.openWindows > 0, show: () => host.showLease() },
    leaseIdleMs: leaseIdleIn(env),
  };
  const shared = new SharedNotebook(target, id);
  host.setLease(shared.lease);
  roster.onDisconnect((source) => shared.disconnect(source));
  return shared;
}

export function toAddress(file: string | undefined): NotebookAddress {
  return { kind: 'built-in', ...(file === undefined ? {} : { file }) };
}

function stateOf({ session, openWindows, fileState, whyUnsaved }: NotebookHost): ReturnType<JoinTarget['state']> {
  const { running, queued, document } = session;
  const inMemory = fileState.kind === 'none' && document.cells.length > 0 ? inNoFile(document.cells.length) : undefined;
  return {
    windows: openWindows,
    isRunning: running !== undefined || queued.length > 0,
    unsaved: whyUnsaved ?? inMemory,
  };
}

function inNoFile(cells: number): string {
  return cells === 1 ? 'its one cell is in no file' : `its ${cells} cells are in no file`;
}

/**
 * The built-in notebook in this process, which agents of other processes join as long as it lives, if it is on a file: for a person's
 * terminal and for a hub. One in memory is only listed and ended from elsewhere. Rejects as `openBuiltIn` does.
 */
export async function openShared(
  setup: NotebookSetup,
  { file, readOnly = false }: { file: string | undefined; readOnly?: boolean | undefined },
): Promise<BuiltInNotebook & Required<Pick<OpenedNotebook, 'asked'>> & { id: string }> {
  const notebook = await openBuiltIn(setup, { file, readOnly });
  let ask: () => void = () => {};
  const asked = new Promise<void>((resolve) => {
    ask = resolve;
  });
  const path = file === undefined ? undefined : realFileOf(file);
  const id = await idFor(setup.stateDir, toAddress(path));
  const shared = toShared(notebook, { id, file: path, terms: toTerms(setup.pages, readOnly), env: setup.env });
  const provider = shared.gateFor((context) => ({ id: `${ownAgents}.${context.caller.sessionId}`, name: nameOfAgent(context) }));
  const unpublish = await publish(setup, shared, ask).catch((error: unknown) => {
    setup.logger.warn('Agents of other processes cannot join this notebook.', { error: messageOf(error) });
    return () => {};
  });
  const close = async (): Promise<void> => {
    unpublish();
    shared.end();
    provider.close();
    await notebook.close();
  };
  const endSession = (sessionId: string): void => {
    notebook.endSession?.(sessionId);
    shared.lease.leave((agentId) => agentId === `${ownAgents}.${sessionId}`);
  };
  const watched = watchBuiltIn(notebook, { id, file: path, lease: shared.lease });
  return { ...notebook, id, provider, asked, watched, endSession, close };
}

/** Returns what ends it. Rejects with `write_failed`. */
async function publish({ stateDir: dir }: NotebookSetup, shared: SharedNotebook, ask: () => void): Promise<() => void> {
  const file = fileOf(shared.target.address);
  const held: HeldNotebooks = {
    open: async (request) => {
      // Nobody means this one with "a notebook in memory".
      const wanted = fileOf(request.address);
      if (file === undefined || wanted !== file)
        throw new BridgeError(
          'bad_notebook',
          `This process holds ${file === undefined ? 'one in memory' : `"${file}"`}, not "${wanted ?? 'a notebook in memory'}".`,
        );
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
