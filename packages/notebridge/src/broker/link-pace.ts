import type { Socket } from 'node:net';

/** Requests of one link that begin in one turn of the event loop: other links get theirs in between. */
const perTurn = 8;
/** So much may wait for the other side to read it; above, nothing more is begun for it. Bytes. */
const maxUnread = 16 * 1024 * 1024;

/**
 * When requests of a link begin: at once, as long as they are few and the other side reads its answers. A program that asks for a thousand
 * long answers at once, or reads none of them, waits for itself.
 */
export class LinkPace {
  readonly #socket: Socket;
  readonly #waiting: (() => void)[] = [];
  #begun = 0;
  #isScheduled = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    // Then nobody waits for an answer, and what was asked ends by itself.
    socket.once('close', () => {
      for (const begin of this.#waiting.splice(0)) begin();
    });
  }

  /** Resolves when the next request may begin; undefined: now. */
  next(): Promise<void> | undefined {
    this.#schedule();
    if (this.#waiting.length === 0 && this.#mayBegin()) {
      this.#begun++;
      return undefined;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #mayBegin(): boolean {
    return this.#begun < perTurn && this.#socket.writableLength <= maxUnread;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#isScheduled = false;
    this.#begun = 0;
    while (this.#waiting.length > 0 && this.#mayBegin()) {
      this.#begun++;
      this.#waiting.shift()?.();
    }
    if (this.#waiting.length === 0) return;
    if (this.#socket.writableLength <= maxUnread) return this.#schedule();
    this.#isScheduled = true;
    this.#socket.once('drain', () => this.#turn());
  }
}
