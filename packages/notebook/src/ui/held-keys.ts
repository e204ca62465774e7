/** A key as it was pressed. */
export type HeldKey = Pick<KeyboardEvent, 'key' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'altKey'>;

/**
 * Keeps the keys back while a cell is made, or goes: a key that is pressed before the host has answered is meant for the cell that
 * comes, not for the one that was there.
 */
export class HeldKeys {
  readonly #replay: (key: HeldKey) => void;
  #keys: HeldKey[] = [];
  #pending = 0;

  /** `replay` is given each key in its turn. */
  constructor(replay: (key: HeldKey) => void) {
    this.#replay = replay;
    // Before editors and commands hear of them.
    document.addEventListener('keydown', (event) => this.#take(event), { capture: true });
  }

  /** Holds keys until this has happened. */
  async until<Result>(happened: Promise<Result>): Promise<Result> {
    this.#pending++;
    try {
      return await happened;
    } finally {
      this.#pending--;
      // After what the caller does with the result.
      setTimeout(() => this.#release());
    }
  }

  #take(event: KeyboardEvent): void {
    if (this.#pending === 0 && this.#keys.length === 0) return;
    if (event.isComposing || document.querySelector('dialog[open]') || isBrowsers(event)) return;
    const { target } = event;
    if (target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const { key, shiftKey, ctrlKey, metaKey, altKey } = event;
    this.#keys.push({ key, shiftKey, ctrlKey, metaKey, altKey });
  }

  #release(): void {
    while (this.#pending === 0) {
      const key = this.#keys.shift();
      if (!key) return;
      this.#replay(key);
    }
  }
}

/** Those that are the notebook's with Ctrl, Command or Alt; all others are the browser's, and not to be held back. */
const ownKeys = new Set(['Enter', 'ArrowUp', 'ArrowDown', 'a', 'f', 's', '-', '_']);

function isBrowsers({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return (ctrlKey || metaKey || altKey) && !ownKeys.has(key.length === 1 ? key.toLowerCase() : key);
}
