import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Cancellation } from '@notebridge/protocol/core/cancellation';

/** The most of so many places that one principal takes: the others get in, whatever it does. */
export function mostOfOne(places: number): number {
  return Math.ceil(0.75 * places);
}

/**
 * The calls that run for HTTP callers, by connection: a connection that closes cancels its calls, all of them, also those that
 * came behind one another without waiting. One listener per connection, so that a call costs no more than a place in a set.
 */
export class CallsUnderWay {
  readonly #lasting = new Set<Cancellation>();
  readonly #ofSocket = new Map<Socket, Set<Cancellation>>();
  readonly #waitingForNone: (() => void)[] = [];
  /** The last of each connection: they leave in the order of their requests. */
  readonly #answers = new WeakMap<Socket, ServerResponse>();
  /** Those that are not answered yet. */
  size = 0;
  #areCut = false;

  /** True once `cancelAll` was called. */
  get areCut(): boolean {
    return this.#areCut;
  }

  /** A call that goes on without its connection. Returns where it was put, for `remove`. */
  addLasting(call: Cancellation): Set<Cancellation> {
    this.size++;
    return this.#lasting.add(call);
  }

  /** Returns where the call was put, for `remove`. */
  add(socket: Socket, call: Cancellation): Set<Cancellation> {
    const calls = this.#ofSocket.get(socket) ?? this.#meet(socket);
    calls.add(call);
    this.size++;
    if (socket.destroyed) call.cancel('The caller closed the connection.');
    return calls;
  }

  /** Call it once for each `add`, when the answer was handed over. */
  remove(calls: Set<Cancellation>, call: Cancellation): void {
    calls.delete(call);
    this.size--;
    if (this.size === 0) for (const resolve of this.#waitingForNone.splice(0)) resolve();
  }

  cancelAll(reason: string): void {
    this.#areCut = true;
    for (const calls of [this.#lasting, ...this.#ofSocket.values()]) for (const call of [...calls]) call.cancel(reason);
  }

  /** Resolves when no call runs, and the system has all of their answers: it delivers them, whatever ends here. A slow reader takes its time. */
  async none(): Promise<void> {
    while (true) {
      if (this.size > 0) await new Promise<void>((resolve) => this.#waitingForNone.push(resolve));
      const leaving = [...this.#ofSocket.keys()].flatMap((socket) => this.#answerOnItsWay(socket) ?? []);
      if (leaving.length > 0) await Promise.all(leaving);
      else if (this.size === 0) return;
    }
  }

  /** A request of a caller that is known is to be answered: once that has ended, `none` waits until it has left. */
  willAnswer(response: ServerResponse): void {
    const { socket } = response.req;
    if (!this.#ofSocket.has(socket)) this.#meet(socket);
    this.#answers.set(socket, response);
  }

  /** Undefined: none is; one that has not ended belongs to a call, or is a stream that has no end. */
  #answerOnItsWay(socket: Socket): Promise<void> | undefined {
    const answer = this.#answers.get(socket);
    if (answer?.writableEnded !== true || answer.writableFinished) return undefined;
    return new Promise((resolve) => {
      answer.once('finish', resolve);
      socket.once('close', () => resolve());
    });
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
