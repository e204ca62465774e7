import type { Socket } from 'node:net';
import type { Cancellation } from '../../core/cancellation.js';

/**
 * The calls that run for HTTP callers, by connection: a connection that closes cancels its calls, all of them, also those that
 * came behind one another without waiting. One listener per connection, so that a call costs no more than a place in a set.
 */
export class CallsUnderWay {
  readonly #lasting = new Set<Cancellation>();
  readonly #ofSocket = new Map<Socket, Set<Cancellation>>();
  readonly #waitingForNone: (() => void)[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** A call that goes on without its connection. Returns where it was put, for `remove`. */
  addLasting(call: Cancellation): Set<Cancellation> {
    this.#size++;
    return this.#lasting.add(call);
  }

  /** Returns where the call was put, for `remove`. */
  add(socket: Socket, call: Cancellation): Set<Cancellation> {
    const calls = this.#ofSocket.get(socket) ?? this.#meet(socket);
    calls.add(call);
    this.#size++;
    if (socket.destroyed) call.cancel('The caller closed the connection.');
    return calls;
  }

  /** Call it once for each `add`. */
  remove(calls: Set<Cancellation>, call: Cancellation): void {
    calls.delete(call);
    this.#size--;
    if (this.#size === 0) for (const resolve of this.#waitingForNone.splice(0)) resolve();
  }

  cancelAll(reason: string): void {
    for (const calls of [this.#lasting, ...this.#ofSocket.values()]) for (const call of [...calls]) call.cancel(reason);
  }

  /** Resolves when no call runs. */
  async none(): Promise<void> {
    if (this.#size > 0) await new Promise<void>((resolve) => this.#waitingForNone.push(resolve));
  }

  #meet(socket: Socket): Set<Cancellation> {
    const calls = new Set<Cancellation>();
    // One that is closed already would never be forgotten.
    if (socket.destroyed) return calls;
    this.#ofSocket.set(socket, calls);
    socket.once('close', () => {
      this.#ofSocket.delete(socket);
      for (const call of [...calls]) call.cancel('The caller closed the connection.');
    });
    return calls;
  }
}
