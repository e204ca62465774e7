import type { CallContext } from '@notebridge/protocol/core/call-context';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { AgentWatchMiddleware } from '../../notebooks/local/agent-watch.js';
import type { NotebookDirectory } from '../../notebooks/selection/notebook-directory.js';
import { NotebookSelection, type NotebookSelectionOptions } from '../../notebooks/selection/notebook-selection.js';
import { OwnLink, type OwnLinkOptions } from '../../notebooks/selection/own-link.js';
import type { NotebookSetup, OpenedNotebook } from './open-notebook.js';

export interface AddSelectionOptions
  extends Omit<OwnLinkOptions, 'provider'>,
    Pick<NotebookSelectionOptions, 'listedBeside' | 'lastingTools'> {
  /** The notebook's file, with links resolved. */
  file?: string | undefined;
}

/**
 * A notebook that this process holds, with all others that its agents may use, each for itself. Those that are opened so are opened as by an
 * agent, whoever chose the first. Callers without a token, and code in a kernel, have the first alone. The way to others is loaded when one
 * is asked for: no agent waits for it.
 */
export function addSelection(
  setup: NotebookSetup,
  notebook: OpenedNotebook,
  { findId, describe, file, ...listed }: AddSelectionOptions,
): OpenedNotebook {
  const first = new OwnLink({ provider: notebook.provider, findId, describe });
  const load = async (): Promise<NotebookDirectory> => {
    const { UserNotebooks } = await import('./user-notebooks.js');
    // The port is taken: by this process.
    return new UserNotebooks({ ...setup, pages: { ...setup.pages, port: undefined, attended: false } }, { file });
  };
  const isListed = setup.pages.list !== 'dynamic';
  const own = createLazyDirectory(first, load);
  const { middlewares, endSession: endOwn = () => {} } = notebook;
  const directory = setup.shareNotebooks?.({ first, directory: own, mayChoose, middlewares, endSession: endOwn }) ?? own;
  const selection = new NotebookSelection({ first, directory, isListed, mayChoose, ...listed });
  const endSession = (sessionId: string): void => {
    void selection.endSession(sessionId);
    notebook.endSession?.(sessionId);
  };
  const close = async (): Promise<void> => {
    await selection.close();
    await notebook.close();
  };
  const adoptSession = (sessionId: string): void => selection.beginWithNone(sessionId);
  return { ...notebook, provider: selection, endSession, adoptSession, close };
}

/** A notebook of another process, with all others that the agents of this one may use. Closing it leaves them all. */
export function openSelection(
  setup: NotebookSetup,
  { first, ...options }: Pick<NotebookSelectionOptions, 'first' | 'beginsWithNone' | 'directory'>,
): OpenedNotebook {
  const selection = new NotebookSelection({ first, ...options, isListed: setup.pages.list !== 'dynamic' });
  const close = async (): Promise<void> => {
    await Promise.all([selection.close(), first.close()]);
  };
  const watch = new AgentWatchMiddleware((agents) => first.showAgents(agents));
  const endSession = (sessionId: string): void => {
    void selection.endSession(sessionId);
    watch.endSession(sessionId);
  };
  return { provider: selection, middlewares: [watch], endSession, close };
}

function mayChoose({ caller: { door, principal } }: CallContext): boolean {
  return principal?.kind !== 'anonymous' && (door === 'stdio' || door === 'http' || door === 'library');
}

/** With the notebook of this process itself, where no other would list it. */
function createLazyDirectory(own: OwnLink, load: () => Promise<NotebookDirectory>): NotebookDirectory {
  let loading: Promise<NotebookDirectory> | undefined;
  let loaded: NotebookDirectory | undefined;
  const directory = async (): Promise<NotebookDirectory> => {
    loading ??= load();
    loaded = await loading;
    return loaded;
  };
  return {
    list: async () => {
      const [ownEntries, { entries, silent }] = await Promise.all([own.entries(), (await directory()).list()]);
      return { entries: [...ownEntries, ...entries], silent };
    },
    find: async (named, list) => (await directory()).find(named, list),
    linkTo: (reference) => {
      if (loaded === undefined) throw new BridgeError('internal', 'A notebook is linked to before any was looked for.');
      return loaded.linkTo(reference);
    },
  };
}
