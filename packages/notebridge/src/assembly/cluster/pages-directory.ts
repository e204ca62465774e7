import type {
  NotebookContents,
  NotebookDirectory,
  NotebookEntry,
  NotebookLink,
  NotebookList,
  NotebookReference,
} from '../../notebooks/selection/notebook-directory.js';
import type { ClusterPages } from './cluster-pages.js';
import type { HeldPage } from './held-page.js';
import { isPageId } from './page-records.js';
import { type NotebookHere, RemoteNotebook } from './remote-notebook.js';

interface PagesDirectoryOptions {
  /** What this hub has besides pages of the cluster, its own first page among it. */
  local: NotebookDirectory;
  pages: ClusterPages;
}

/** The notebooks of this hub, and after them the pages that came here from other hubs. */
export class PagesDirectory implements NotebookDirectory {
  readonly #options: PagesDirectoryOptions;

  constructor(options: PagesDirectoryOptions) {
    this.#options = options;
  }

  get contents(): NotebookContents | undefined {
    return this.#options.local.contents;
  }

  async list(): Promise<NotebookList> {
    const { local, pages } = this.#options;
    const { entries, silent } = await local.list();
    const more = pages.held.filter(({ id }) => !entries.some((entry) => entry.id === id)).map(toEntry);
    return { entries: [...entries, ...more], silent };
  }

  async find(named: { text: string; create: boolean }, list: NotebookList): Promise<NotebookReference> {
    const page = list.entries.find(({ id }) => isPageId(id) && id === named.text);
    return page === undefined ? this.#options.local.find(named, list) : { kind: 'open', id: page.id };
  }

  linkTo(reference: NotebookReference): NotebookLink {
    const { local, pages } = this.#options;
    if (reference.kind === 'open' && isPageId(reference.id)) return linkToPage(reference.id, pages);
    // A page that is opened here can go to another hub; one that a process beside this hub holds cannot, and a hub without a page
    // of its own has no port for them.
    if (reference.kind === 'page' && pages.canOpen) return linkToPage(pages.open(reference).id, pages);
    return local.linkTo(reference);
  }
}

/** A page of the cluster, wherever it is: the link goes with it. */
export function linkToPage(id: string, pages: ClusterPages): RemoteNotebook {
  const { calls, runtime } = pages;
  const locate = async (): Promise<string | NotebookHere> => (await pages.locate(id)) ?? pages.heldPage(id) ?? locate();
  return new RemoteNotebook({ id, idThere: id, locate, calls, runtime });
}

function toEntry({ id, page }: HeldPage): NotebookEntry {
  return { id, ...page.describe() };
}
