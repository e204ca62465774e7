/** Functions that are called with each event. */
export class Listeners<Event> {
  readonly #listeners = new Set<(event: Event) => void>();
  readonly #waiting: Event[] = [];

  /** Returns the unsubscribe function. */
  add(listener: (event: Event) => void): () => void {
    const own = (event: Event) => listener(event);
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }

  /**
   * Calls all. An event that a listener causes waits until all have received the one before it, so that all receive them in the
   * order in which they happened.
   */
  emit(event: Event): void {
    this.#waiting.push(event);
    if (this.#waiting.length > 1) return;
    // By their number: an event may well be `undefined`.
    while (this.#waiting.length > 0) {
      const next = this.#waiting[0] as Event;
      for (const listener of [...this.#listeners]) callSafely(listener, next);
      this.#waiting.shift();
    }
  }
}

/** An error of a listener must not break the change that it is notified of, and must not go unnoticed. */
function callSafely<Event>(listener: (event: Event) => void, event: Event): void {
  try {
    listener(event);
  } catch (error) {
    void Promise.reject(error);
  }
}
