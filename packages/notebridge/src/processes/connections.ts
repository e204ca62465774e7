import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** More than this are never held, whatever the system allows: each costs memory. */
const mostConnections = 4096;
/** Descriptors that are left to children, files and the servers that we call: this share, and at least so many. */
const reservedShare = 4;
const leastReserved = 64;
/** However few descriptors there are. */
const fewestConnections = 16;

/**
 * The connections that others hold to this process, over all of its listeners together. Descriptors are the process's: whoever takes
 * all of them stops the calls of everybody. So at the limit the oldest connection that has not shown a good token makes room.
 */
export class Connections {
  readonly #limit: () => number;
  /** Oldest first. */
  readonly #unproven = new Set<Socket>();
  readonly #proven = new Set<Socket>();
  readonly #servers = new Set<Server>();
  #max: number | undefined;

  /** `limit`: how many there may be; asked once. */
  constructor(limit: () => number) {
    this.#limit = limit;
  }

  /** Counts the connections of a server from now on. `onCut` is told of each that had to make room. */
  watch(server: Server, onCut?: () => void): void {
    server.on('listening', () => this.#servers.add(server));
    server.on('close', () => this.#servers.delete(server));
    server.on('connection', (socket: Socket) => this.#add(socket, onCut));
  }

  /** The connection has carried a good token and a whole request: it makes room for nobody while it has work. Cheap to call with each request. */
  trust(socket: Socket): void {
    if (!this.#unproven.has(socket)) return;
    // Room for newcomers stays. Their owners open those that wait for nothing again when they need them.
    if (this.#isCrowded) for (const server of this.#servers) server.closeIdleConnections();
    if (this.#isCrowded) return;
    this.#unproven.delete(socket);
    this.#proven.add(socket);
  }

  trusts(socket: Socket): boolean {
    return this.#proven.has(socket);
  }

  get #isCrowded(): boolean {
    this.#max ??= this.#limit();
    return this.#proven.size >= 0.75 * this.#max;
  }

  #add(socket: Socket, onCut: (() => void) | undefined): void {
    this.#max ??= this.#limit();
    this.#unproven.add(socket);
    socket.once('close', () => {
      this.#unproven.delete(socket);
      this.#proven.delete(socket);
    });
    if (this.#unproven.size + this.#proven.size <= this.#max) return;
    const [oldest] = this.#unproven;
    if (oldest === undefined) return;
    // Its descriptor is free at once, its `close` comes later.
    this.#unproven.delete(oldest);
    oldest.destroy();
    onCut?.();
  }
}

/** How many connections fit into so many descriptors. */
export function connectionsWithin(descriptors: number): number {
  const counted = Math.min(descriptors, reservedShare * mostConnections);
  const reserved = Math.max(leastReserved, Math.ceil(counted / reservedShare));
  return Math.max(fewestConnections, Math.min(mostConnections, counted - reserved));
}

/** The descriptors that this process may have; where the system knows no such bound, infinitely many. Takes some 10 ms. */
export function ownDescriptorLimit(): number {
  // The types of our oldest Node lack the switch.
  const report: NodeJS.ProcessReport & { excludeNetwork?: boolean } = process.report;
  // Looking up the names of its neighbours could take seconds.
  const { excludeNetwork = false } = report;
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  report.excludeNetwork = excludeNetwork;
  const soft = Number(userLimits?.open_files?.soft);
  return Number.isFinite(soft) ? soft : Number.POSITIVE_INFINITY;
}

/** Those of this process. */
export const ownConnections = new Connections(() => connectionsWithin(ownDescriptorLimit()));
