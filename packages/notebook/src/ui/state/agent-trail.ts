import { Listeners } from '@notebridge/protocol/util/listeners';
import type { Actor } from '../../model/cell.js';
import { cellIdOf, isContentOperation } from '../../model/operation.js';
import { verbs } from '../names.js';
import type { Store, StoreEvent } from './store.js';

/** What an agent did, or does, in a cell. */
export interface Mark {
  readonly by: Actor;
  readonly what: string;
  /** It goes on: the mark stays until it ends. */
  readonly isLasting: boolean;
  /** It is over, and nobody else has changed the cell since: a quieter mark. */
  readonly isOld: boolean;
}

/** The newest thing that an agent did. */
export interface Activity extends Mark {
  readonly cellId: string;
  /** Where the cell is or was. */
  readonly index: number;
  readonly isGone: boolean;
}

const markMs = 15_000;
const activityMs = 6_000;

/** Remembers for a while where agents worked, so that a person sees it happen. */
export class AgentTrail {
  readonly #store: Store;
  readonly #listeners = new Listeners<string | undefined>();
  readonly #marks = new Map<string, { mark: Mark; timer: ReturnType<typeof setTimeout> | undefined }>();
  /** The newest thing that an agent did, while it is news. */
  activity: Activity | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(store: Store) {
    this.#store = store;
    store.on((event) => this.#onEvent(event));
  }

  /** Called with the id of a cell whose mark has changed; undefined when only the activity has. */
  on(listener: (cellId: string | undefined) => void): void {
    this.#listeners.add(listener);
  }

  /** The newest mark; long after it, and after a reload, who has changed the cell last, if that was an agent. */
  markOf(cellId: string): Mark | undefined {
    const newest = this.#marks.get(cellId)?.mark;
    if (newest) return newest;
    const by = this.#store.document.find(cellId)?.changedBy;
    if (by?.kind !== 'agent') return undefined;
    const entry = this.#store.journal.findLast((each) => each.cellId === cellId && !each.undone);
    return { by, what: `${verbs[entry?.action ?? 'update']} this cell`, isLasting: false, isOld: true };
  }

  #onEvent(event: StoreEvent): void {
    if (event.type === 'reset') {
      for (const each of [...this.#marks.keys()]) this.#forget(each);
      this.#rest();
      // What an agent runs at this moment is known from the hello; the rest of its trail is not.
      const { running } = this.#store;
      return running && this.#onEvent({ type: 'run', run: running });
    }
    if (event.type === 'agents' && this.#store.agents.length === 0 && !this.activity?.isLasting) return this.#rest();
    if (event.type === 'cell') {
      const { op, by } = event.change;
      const cellId = cellIdOf(op);
      const index = (event.after ?? event.before)?.index ?? 0;
      if (cellId === undefined || !isContentOperation(op)) return;
      if (by.kind === 'agent')
        this.#note({ by, what: `${verbs[op.type]} this cell`, cellId, index, isLasting: false, isOld: false, isGone: !event.after });
      // A person who types there still sees that it was changed; the old mark, which says who was last, is gone.
      else this.#listeners.emit(cellId);
      return;
    }
    if (event.type !== 'run' && event.type !== 'finished') return;
    const { by, cellId, state } = event.run;
    if (by.kind !== 'agent') return;
    const what = event.type === 'finished' ? 'ran this cell' : state === 'queued' ? 'wants to run this cell' : 'is running this cell';
    const index = this.#store.indexOf(cellId);
    this.#note({ by, what, cellId, index, isLasting: event.type === 'run', isOld: false, isGone: index === -1 });
    // The work has ended: nothing says any more that it goes on.
    if (event.type === 'finished') this.#rest();
  }

  #note(activity: Activity): void {
    const { cellId, isLasting, isGone } = activity;
    this.#forget(cellId);
    if (!isGone) this.#marks.set(cellId, { mark: activity, timer: isLasting ? undefined : setTimeout(() => this.#forget(cellId), markMs) });
    this.activity = activity;
    clearTimeout(this.#timer);
    if (!isLasting) this.#timer = setTimeout(() => this.#rest(), activityMs);
    this.#listeners.emit(cellId);
  }

  #rest(): void {
    clearTimeout(this.#timer);
    this.activity = undefined;
    this.#listeners.emit(undefined);
  }

  #forget(cellId: string): void {
    clearTimeout(this.#marks.get(cellId)?.timer);
    this.#marks.delete(cellId);
    this.#listeners.emit(cellId);
  }
}
