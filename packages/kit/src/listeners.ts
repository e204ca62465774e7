/** Functions that want to hear of something. */
export class Listeners<Event> {
  readonly #listeners = new Set<(event: Event) => void>();
  readonly #waiting: Event[] = [];

  /** Returns the function that removes the listener. */
  add(listener: (event: Event) => void): () => void {
    const own = (event: Event) => listener(event);
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }

  /**
   * Calls all. An event that a listener causes waits until all have heard the one before it, so that everyone hears them in the
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

/** A listener's fault is its own: it must not break the change that it hears of, and it must not go unseen. */
function callSafely<Event>(listener: (event: Event) => void, event: Event): void {
  try {
    listener(event);
  } catch (error) {
    void Promise.reject(error);
  }
}
