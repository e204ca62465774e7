import type { Drafts } from './state/drafts.js';
import type { Selection } from './state/selection.js';
import type { Store } from './state/store.js';

/** Without a key for so long since it went, a person has seen that the cell is gone. Milliseconds. */
const pauseMs = 1500;

/**
 * Takes the keys that a person presses who types in a cell that somebody else removes: they are text, which is kept, and no commands on other
 * cells, until the person pauses, leaves with Escape, or uses the pointer.
 */
export class GoneText {
  readonly #drafts: Drafts;
  #cellId: string | undefined;
  #keyMs = 0;
  #pointerMs = 0;

  constructor({ drafts, selection, store }: { drafts: Drafts; selection: Selection; store: Store }) {
    this.#drafts = drafts;
    selection.on(({ before: { cellId, mode }, now }) => {
      if (now.mode === 'edit') this.#cellId = undefined;
      if (mode !== 'edit' || cellId === undefined || store.document.find(cellId) !== undefined) return;
      // A click on the button that deletes the cell is the person's own.
      if (this.#keyMs <= this.#pointerMs) return;
      this.#cellId = cellId;
      this.#keyMs = performance.now();
    });
    document.addEventListener('keydown', ({ timeStamp }) => this.#see(timeStamp), { capture: true });
    document.addEventListener(
      'pointerdown',
      ({ timeStamp }) => {
        this.#pointerMs = timeStamp;
        this.#end();
      },
      { capture: true },
    );
  }

  /** True: the key is no command. */
  take({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
    if (this.#cellId === undefined) return false;
    if (ctrlKey || metaKey || altKey) return this.#end();
    if (key === 'Escape') return !this.#end();
    if (key.length === 1 || key === 'Enter') this.#drafts.typeOn(this.#cellId, key === 'Enter' ? '\n' : key);
    return true;
  }

  #see(timeStamp: number): void {
    if (timeStamp - this.#keyMs > pauseMs) this.#end();
    this.#keyMs = timeStamp;
  }

  #end(): false {
    this.#cellId = undefined;
    return false;
  }
}
