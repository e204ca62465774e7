/** A key as it was pressed. */
export type HeldKey = Pick<KeyboardEvent, 'key' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'altKey'>;

/** Holds keys until this has happened. */
export type HoldKeys = <Result>(happened: Promise<Result>) => Promise<Result>;

/**
 * Keeps the keys back while a cell is made, or goes: a key that is pressed before the host has answered is meant for the cell that
 * comes, not for the one that was there. `replay` is given each key in its turn.
 */
export function createKeyHolder(replay: (key: HeldKey) => void): HoldKeys {
  const keys: HeldKey[] = [];
  let pending = 0;
  const take = (event: KeyboardEvent): void => {
    if (pending === 0 && keys.length === 0) return;
    if (event.isComposing || document.querySelector('dialog[open]') || isBrowsers(event)) return;
    const { target } = event;
    if (target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const { key, shiftKey, ctrlKey, metaKey, altKey } = event;
    keys.push({ key, shiftKey, ctrlKey, metaKey, altKey });
  };
  const release = (): void => {
    while (pending === 0) {
      const key = keys.shift();
      if (!key) return;
      replay(key);
    }
  };
  // Before editors and commands hear of them.
  document.addEventListener('keydown', take, { capture: true });
  return async (happened) => {
    pending++;
    try {
      return await happened;
    } finally {
      pending--;
      // After what the caller does with the result.
      setTimeout(release);
    }
  };
}

/** Those that are the notebook's with Ctrl, Command or Alt; all others are the browser's, and not to be held back. */
const ownKeys = new Set(['Enter', 'ArrowUp', 'ArrowDown', 'a', 'f', 's', '-', '_']);

function isBrowsers({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return (ctrlKey || metaKey || altKey) && !ownKeys.has(key.length === 1 ? key.toLowerCase() : key);
}
