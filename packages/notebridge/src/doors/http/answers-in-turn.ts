import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Requests of one connection that may wait, one behind the other, for answers that are not out: each takes memory until it is read. */
const mostWaiting = 64;

/**
 * What each connection waits for. Answers leave in the order of their requests, so an error for bytes that are no request may only be
 * sent in its turn: in the middle of an answer it would break it, and before one it would be taken for it.
 */
export class AnswersInTurn {
  /** The newest last; none that is out stands before one that is not. */
  readonly #waiting = new WeakMap<Duplex, ServerResponse[]>();

  /** Counts a request. False if its connection waits for too many. */
  begin(socket: Duplex, response: ServerResponse): boolean {
    let waiting = this.#waiting.get(socket);
    // When the newest is out, all are.
    if (waiting === undefined || isOut(waiting.at(-1))) waiting = [];
    else if (waiting.length >= mostWaiting) waiting = waiting.filter((each) => !isOut(each));
    waiting.push(response);
    this.#waiting.set(socket, waiting);
    return waiting.length <= mostWaiting;
  }

  /** True if it is the turn of what could not be read: nothing else waits for its answer, and it has none yet. */
  isTurnOfUnreadable(socket: Duplex): boolean {
    const waiting = this.#waiting.get(socket) ?? [];
    const last = waiting.at(-1);
    if (last === undefined) return true;
    // Of a request that was refused before its end, the end may come late or never.
    if (isOut(last)) return last.req.complete;
    return !last.req.complete && !last.headersSent && waiting.slice(0, -1).every(isOut);
  }
}

function isOut(response: ServerResponse | undefined): boolean {
  return response?.writableFinished === true;
}
