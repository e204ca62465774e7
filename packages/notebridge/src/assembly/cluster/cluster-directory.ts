import { type ClusterParts, type HubView, NotStarted } from '@notebridge/cluster/cluster-parts';
import { toHubContext } from '@notebridge/cluster/remote-events';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { isJsonObject } from '@notebridge/protocol/json';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { quote } from '@notebridge/protocol/util/quote';
import type {
  NotebookContents,
  NotebookDirectory,
  NotebookEntry,
  NotebookLink,
  NotebookList,
  NotebookReference,
} from '../../notebooks/selection/notebook-directory.js';
import type { ClusterPages } from './cluster-pages.js';
import { listMethod, notebooksOfHub } from './notebook-desk.js';
import { isPageId } from './page-records.js';
import { linkToPage } from './pages-directory.js';
import { RemoteNotebook, toClusterId } from './remote-notebook.js';

/** How long another hub may take to say what it has. Milliseconds. */
const listTimeoutMs = 3000;

export interface ClusterDirectoryOptions extends Pick<ClusterParts, 'calls' | 'membership' | 'runtime'> {
  /** What this hub has itself. */
  local: NotebookDirectory;
  /** The pages of the cluster. Left out: this hub takes no part in them. */
  pages?: ClusterPages | undefined;
}

/** The notebooks of this hub, and after them those of all others, as `nb1@HUB`. */
export class ClusterDirectory implements NotebookDirectory {
  readonly #options: ClusterDirectoryOptions;

  constructor(options: ClusterDirectoryOptions) {
    this.#options = options;
  }

  get contents(): NotebookContents | undefined {
    return this.#options.local.contents;
  }

  async list(): Promise<NotebookList> {
    const lists = await Promise.all([this.#options.local.list(), ...this.#others.map((hub) => this.#listOf(hub))]);
    const entries = lists.flatMap((list) => list.entries);
    const orphans = (this.#options.pages?.orphans ?? []).map(toOrphanEntry).filter(({ id }) => !entries.some((entry) => entry.id === id));
    return { entries: [...entries, ...orphans], silent: lists.flatMap(({ silent }) => silent) };
  }

  /** A path means one of this hub's machine, whatever others have at theirs; an address of the web means the same everywhere. */
  async find(named: { text: string; create: boolean }, { entries, silent }: NotebookList): Promise<NotebookReference> {
    const { text } = named;
    const elsewhere = entries.find((entry) => isElsewhere(entry) && (entry.id === text || (entry.location === text && URL.canParse(text))));
    const mine = entries.filter((entry) => !isElsewhere(entry));
    if (elsewhere !== undefined && !mine.some(({ id, location }) => id === text || location === text))
      return { kind: 'open', id: elsewhere.id };
    if (/^nb[^@\s]*@\S+$/.test(text)) {
      const there = entries.map(({ id }) => id).join(', ');
      throw new BridgeError(
        'bad_notebook',
        `No notebook ${quote(text)} is open: it was closed, or its hub has ended. There is ${there || 'none'}.`,
      );
    }
    return this.#options.local.find(named, { entries: mine, silent });
  }

  linkTo(reference: NotebookReference): NotebookLink {
    const { local, pages, calls, runtime } = this.#options;
    if (reference.kind !== 'open' || !isElsewhere(reference)) return local.linkTo(reference);
    const { id } = reference;
    if (isPageId(id) && pages !== undefined) return linkToPage(id, pages);
    const at = id.lastIndexOf('@');
    const locate = async (): Promise<string> => this.#hubNamed(id.slice(at + 1), id);
    return new RemoteNotebook({ id, idThere: id.slice(0, at), locate, calls, runtime });
  }

  #hubNamed(hubName: string, id: string): string {
    const lives = this.#options.membership.hubs().filter(({ name }) => name === hubName);
    // One that was killed is seen until its lease is over, beside the one that was started in its place.
    const [newest] = lives.reverse().sort((one, other) => other.startedAt - one.startedAt);
    if (newest !== undefined) return newest.id;
    throw new BridgeError(
      'bad_notebook',
      `The notebook ${quote(id)} is with the hub "${hubName}", which is not there just now. Nothing was called.`,
    );
  }

  get #others(): HubView[] {
    const { membership } = this.#options;
    return membership.hubs().filter(({ id }) => id !== membership.self.id);
  }

  /** Never rejects. */
  async #listOf({ id: hub, name: hubName }: HubView): Promise<NotebookList> {
    const { calls, runtime } = this.#options;
    const cancellation = new Cancellation();
    const callOff = runtime.after(listTimeoutMs, () => cancellation.cancel('it takes too long'));
    const context = toHubContext(listMethod, { cancellation });
    try {
      const { entries, silent } = await calls.call({ hub, resource: notebooksOfHub, epoch: 0 }, listMethod, {}, context);
      return {
        entries: (Array.isArray(entries) ? entries : [])
          .filter(isJsonObject)
          .map((entry) => toEntry(entry as unknown as NotebookEntry, hubName)),
        silent: (Array.isArray(silent) ? silent : []).map((why) => `${hubName}: ${String(why)}`),
      };
    } catch (error) {
      const servesNone = error instanceof NotStarted && error.reason === 'not_served';
      return { entries: [], silent: servesNone ? [] : [`The hub "${hubName}" does not answer: ${messageOf(error)}`] };
    } finally {
      callOff();
    }
  }
}

function toEntry(entry: NotebookEntry, hubName: string): NotebookEntry {
  return isPageId(entry.id) ? entry : { ...entry, id: toClusterId(entry.id, hubName) };
}

/** Not by the way of this hub alone: a page has one id, at whichever hub it is. */
function isElsewhere({ id }: { id: string }): boolean {
  return id.includes('@') || isPageId(id);
}

/** A page that is nowhere just now; it comes to this hub when it is used, or to the one that it dials. */
function toOrphanEntry({ id, record }: ClusterPages['orphans'][number]): NotebookEntry {
  const missing = 'Its hub has ended. A page that is still open comes back by itself, or is opened anew by the tool that opens it.';
  return { id, kind: record.profile, title: record.title, location: record.url, kernel: null, state: 'waiting', holder: null, missing };
}
