import type { Socket } from 'node:net';
import type { FaultLog } from '@notebridge/system/net/fault-log';

/** How long a connection that has sent something may take to finish its request, and how often that is checked. Milliseconds. */
const requestMs = 5000;
const lookEveryMs = 1000;
/** How long a silent connection is kept: a browser holds it while a person is asked for permission. Milliseconds. */
export const silenceMs = 120_000;

/** Connections that are no page (yet): how long they may take to finish a request, and which have never sent a byte. */
export class PendingConnections {
  readonly #faults: FaultLog;
  /** When each was first seen to have sent something; undefined before. */
  readonly #sockets = new Map<Socket, number | undefined>();
  readonly #watched = new Set<Socket>();
  #gone = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(faults: FaultLog) {
    this.#faults = faults;
  }

  /** Connections without a byte, past and present. */
  get silent(): number {
    return this.#gone + [...this.#sockets.keys(), ...this.#watched].filter(isSilent).length;
  }

  add(socket: Socket): void {
    this.#sockets.set(socket, undefined);
    this.#timer ??= setInterval(() => this.#look(), lookEveryMs).unref();
    socket.once('close', () => {
      this.release(socket);
      if (isSilent(socket)) this.#countSilence();
    });
  }

  /** Notes whether it ever sends a byte, and does nothing else: its port is not for pages only. */
  watch(socket: Socket): void {
    this.#watched.add(socket);
    socket.once('close', () => {
      this.#watched.delete(socket);
      if (isSilent(socket)) this.#countSilence();
    });
  }

  /** Releases one that is a page now. Releasing twice is harmless. */
  release(socket: Socket): void {
    this.#sockets.delete(socket);
    if (this.#sockets.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Cuts all of them. */
  destroy(): void {
    for (const socket of this.#sockets.keys()) socket.destroy();
  }

  #look(): void {
    const now = performance.now();
    for (const [socket, spokeAt] of this.#sockets) {
      if (spokeAt !== undefined && now - spokeAt >= requestMs) socket.destroy();
      else if (spokeAt === undefined && !isSilent(socket)) this.#sockets.set(socket, now);
    }
  }

  #countSilence(): void {
    this.#gone++;
    this.#faults.report('A connection came and went without a byte: the browser may lack the permission for the local network.');
  }
}

function isSilent({ bytesRead }: Socket): boolean {
  return bytesRead === 0;
}
