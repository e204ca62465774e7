import type { Socket } from 'node:net';
import type { FaultLog } from './fault-log.js';

/** Past it the oldest is cut, so that idle ones cannot keep a page out. */
const maxStrangers = 256;
/** How long whoever speaks may take to come to the point. Milliseconds. */
const requestMs = 5000;
/** How long a silent connection is kept: a browser holds it while a person is asked for permission. Milliseconds. */
export const silenceMs = 120_000;

/** Connections that are no page (yet): how many there are, for how long, and which have never said a word. */
export class Strangers {
  readonly #faults: FaultLog;
  readonly #sockets = new Set<Socket>();
  readonly #watched = new Set<Socket>();
  #gone = 0;

  constructor(faults: FaultLog) {
    this.#faults = faults;
  }

  /** Connections without a byte, past and present. */
  get silent(): number {
    return this.#gone + [...this.#sockets, ...this.#watched].filter(isSilent).length;
  }

  add(socket: Socket): void {
    this.#sockets.add(socket);
    const [oldest] = this.#sockets;
    if (this.#sockets.size > maxStrangers) oldest?.destroy();
    const timer = setInterval(() => {
      if (!isSilent(socket) && this.#sockets.has(socket)) socket.destroy();
    }, requestMs).unref();
    socket.once('close', () => {
      clearInterval(timer);
      this.#sockets.delete(socket);
      if (isSilent(socket)) this.#countSilence();
    });
  }

  /** Looks whether it ever says a word, and leaves it alone: its port is not for pages only. */
  watch(socket: Socket): void {
    this.#watched.add(socket);
    socket.once('close', () => {
      this.#watched.delete(socket);
      if (isSilent(socket)) this.#countSilence();
    });
  }

  /** Lets go of one that is a page now. */
  release(socket: Socket): void {
    this.#sockets.delete(socket);
  }

  /** Cuts all of them. */
  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #countSilence(): void {
    this.#gone++;
    this.#faults.report('A connection came and went without a byte: the browser may lack the permission for the local network.');
  }
}

function isSilent({ bytesRead }: Socket): boolean {
  return bytesRead === 0;
}
