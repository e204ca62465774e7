/** Functions that are told of something, in the order in which they came. */
export class Listeners<Event> {
  readonly #listeners = new Set<(event: Event) => void>();

  /** Adds a listener. Returns the way to remove it. */
  add(listener: (event: Event) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  emit(event: Event): void {
    for (const listener of [...this.#listeners]) listener(event);
  }
}
