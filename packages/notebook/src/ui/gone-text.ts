import type { Drafts } from './state/drafts.js';
import type { Selection } from './state/selection.js';
import type { Store } from './state/store.js';

/** Without a key for so long since it went, a person has seen that the cell is gone. Milliseconds. */
const pauseMs = 1500;

/** True: the key is no command. */
export type TakeKey = (event: KeyboardEvent) => boolean;

/**
 * Takes the keys that a person presses who types in a cell that somebody else removes: they are text, which is kept, and no commands on other
 * cells, until the person pauses, leaves with Escape, or uses the pointer.
 */
export function keepGoneText(drafts: Drafts, selection: Selection, store: Store): TakeKey {
  let gone: string | undefined;
  let keyMs = 0;
  let pointerMs = 0;
  selection.on(({ before: { cellId, mode }, now }) => {
    if (now.mode === 'edit') gone = undefined;
    if (mode !== 'edit' || cellId === undefined || store.document.find(cellId) !== undefined) return;
    // A click on the button that deletes the cell is the person's own.
    if (keyMs <= pointerMs) return;
    gone = cellId;
    keyMs = performance.now();
  });
  const onKey = ({ timeStamp }: KeyboardEvent): void => {
    if (timeStamp - keyMs > pauseMs) gone = undefined;
    keyMs = timeStamp;
  };
  const onPointer = ({ timeStamp }: PointerEvent): void => {
    pointerMs = timeStamp;
    gone = undefined;
  };
  document.addEventListener('keydown', onKey, { capture: true });
  document.addEventListener('pointerdown', onPointer, { capture: true });

  return ({ key, ctrlKey, metaKey, altKey }) => {
    const cellId = gone;
    if (cellId === undefined) return false;
    const isControl = ctrlKey || metaKey || altKey;
    if (isControl || key === 'Escape') gone = undefined;
    else if (key.length === 1 || key === 'Enter') drafts.typeOn(cellId, key === 'Enter' ? '\n' : key);
    return !isControl;
  };
}
