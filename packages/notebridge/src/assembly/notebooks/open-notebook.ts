import type { NotebookTools } from '@notebridge/notebook/host';
import type { CallContext } from '@notebridge/protocol/core/call-context';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import type { Tool } from '@notebridge/protocol/core/mcp';
import type { Middleware } from '@notebridge/protocol/core/middleware';
import type { Provider } from '@notebridge/protocol/core/provider';
import { RequestContext } from '@notebridge/protocol/core/request-context';
import type { OnRefused } from '@notebridge/system/net/refused-attempt';
import type { BrowserResult } from '@notebridge/system/processes/browser';
import { composeMiddleware } from '../../middleware/compose.js';
import { undoTool } from '../../notebooks/changes/undo-tool.js';
import type { PagePort } from '../../notebooks/pages/page-listener.js';
import type { FindNotebook, NotebookDirectory } from '../../notebooks/selection/notebook-directory.js';
import type { WatchedNotebooks } from '../../notebooks/watched-notebooks.js';
import type { ClusterPages } from '../cluster/cluster-pages.js';
import type { NotebooksOfHub } from '../cluster/notebook-desk.js';
import type { Settings } from '../settings.js';
import type { PageOptions } from './page-options.js';

/** A notebook that agents work in. */
export interface OpenedNotebook {
  provider: Provider;
  /** Added inside all others. */
  middlewares: readonly Middleware[];
  /** Tools that it may have later. Default: those that it lists, and undo. */
  laterTools?: readonly string[];
  /** Resolves when a person asks for the end of the agent's connection; rejects if the notebook cannot be opened after all. */
  ended?: Promise<void>;
  /** Resolves when the user asks for the end of the notebook, by `notebridge stop`. */
  asked?: Promise<void>;
  /** For a person, where this process holds the notebook: the address of one more window, and the private file that it can stand in. */
  newWindow?: () => { url: string; writeAddress: () => Promise<string> };
  /** For the owner of the hub. Left out: there is nothing to see. */
  watched?: WatchedNotebooks | undefined;
  /** An agent's session has ended: what is held for it alone is given back. Ending one twice, or one that is not known, is harmless. */
  endSession?: (sessionId: string) => void;
  /** An agent's session goes on here that began at another hub: it says which notebook it means. Left out: there is one alone. */
  adoptSession?: (sessionId: string) => void;
  close(): Promise<void>;
}

/** Opens a notebook. Rejects with what keeps it from opening, and leaves nothing open then. */
export type OpenNotebook = (setup: NotebookSetup) => Promise<OpenedNotebook>;

/** What a notebook is given when it is opened. */
export interface NotebookSetup extends Settings {
  pages: PageOptions;
  /** Where its pages dial, if there is an HTTP port already. */
  pagePort: PagePort | undefined;
  /** Receives attempts that the notebook's own doors refused. */
  onRefused: OnRefused;
  /** Finds the notebook that an agent names. */
  findNotebook: FindNotebook;
  /** In a cluster: has agents of other hubs use the notebooks of this one, and answers with those of all. Left out: there are no other hubs. */
  shareNotebooks?: ((own: NotebooksOfHub) => NotebookDirectory) | undefined;
  /** In a cluster: pages of other hubs may come here, and those of this one may go. */
  clusterPages?: ClusterPages | undefined;
  /** What code in the notebook may call, where there are servers. Its opener closes it. */
  openTools: (() => Promise<OpenedTools>) | undefined;
}

export interface OpenedTools extends NotebookTools {
  /** See who has code run: in front of the notebook for all whose calls come to it, also from other hubs. Left out: others see that. */
  middlewares?: readonly Middleware[];
  close(): Promise<void>;
}

/** The place of the one notebook: callers that ask for its tools hold the place, before a notebook is there. */
export class NotebookPlace {
  #notebook: OpenedNotebook | undefined;

  get notebook(): OpenedNotebook | undefined {
    return this.#notebook;
  }

  attach(notebook: OpenedNotebook): void {
    this.#notebook = notebook;
  }

  /** The tools with their annotations; none where no notebook is attached. */
  async listTools(context: CallContext): Promise<readonly Tool[]> {
    const { tools } = (await this.#notebook?.provider.request('tools/list', {}, context)) ?? {};
    return Array.isArray(tools) ? (tools as Tool[]) : [];
  }
}

/** What the tools are called that a notebook has when it is opened, those of its layers too, or may have later: undo comes with a change. */
export async function namesOfTools({ provider, middlewares, laterTools = [] }: OpenedNotebook): Promise<ReadonlySet<string>> {
  const context = new RequestContext({
    type: 'request',
    method: 'tools/list',
    message: {},
    callId: 'names',
    caller: { sessionId: 'names', door: 'library', era: 'legacy', clientInfo: undefined },
    cancellation: new Cancellation(),
    notify: () => {},
  });
  const { tools } = await composeMiddleware(middlewares)(context, (inner) => provider.request('tools/list', {}, inner));
  const listed = Array.isArray(tools) ? (tools as Tool[]).map(({ name }) => name) : [];
  return new Set([...listed, undoTool.name, ...laterTools]);
}

/** What stands for a browser when opening one is switched off. */
export const browserSwitchedOff: BrowserResult = {
  opened: false,
  reason: 'no_display',
  hint: 'Opening one is switched off (--no-browser).',
};
