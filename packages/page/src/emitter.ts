/** Listeners by event name. One that throws is reported by the platform, as for DOM events, and harms nobody else. */
export class TypedEmitter<Events extends object> {
  readonly #listeners = new Map<keyof Events, Set<(event: never) => void>>();
  readonly #queue: (() => void)[] = [];

  /** Returns the unsubscribe function. */
  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  /** An event that a listener causes is delivered after the current one, to every listener. */
  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    const isUnderWay = this.#queue.push(() => this.#deliver(name, event)) > 1;
    if (isUnderWay) return;
    for (let deliver = this.#queue[0]; deliver !== undefined; deliver = this.#queue[0]) {
      deliver();
      this.#queue.shift();
    }
  }

  #deliver<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    for (const listener of [...(this.#listeners.get(name) ?? [])] as ((event: Events[Name]) => void)[]) {
      try {
        listener(event);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
