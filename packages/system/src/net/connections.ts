import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { owner, principalKey } from '@notebridge/protocol/core/principal';
import { ownDescriptorLimit } from '../processes/descriptor-limit.js';

/** More than this are never held, whatever the system allows: each costs memory. */
const mostConnections = 4096;
/** Descriptors that are left to children, files and the servers that we call: this share, and at least so many. */
const reservedShare = 4;
const leastReserved = 64;
/** However few descriptors there are. */
const fewestConnections = 16;

/** The holder whose connections never give way. */
export const ownerHolder = principalKey(owner);
/** Of those that are known to be good without a name: pages and windows. */
const unnamedHolder = '';

/**
 * The connections that others hold to this process, over all of its listeners together. Descriptors are the process's: a client that takes
 * all of them stops everyone's calls. So at the limit the oldest connection that has not shown a good token is closed.
 */
export class Connections {
  readonly #limit: () => number;
  /** Oldest first. */
  readonly #unproven = new Set<Socket>();
  /** By their holder. */
  readonly #proven = new Map<string, Set<Socket>>();
  readonly #holders = new Map<Socket, string>();
  /** The last answer of each, if it speaks HTTP. */
  readonly #answers = new WeakMap<Socket, ServerResponse>();
  #max: number | undefined;

  /** `limit`: how many there may be; asked once. */
  constructor(limit: () => number) {
    this.#limit = limit;
  }

  /** Counts the connections of a server from now on. `onCut` is called for each that had to make room. */
  watch(server: Server, onCut?: () => void): void {
    server.on('connection', (socket: Socket) => this.#add(socket, onCut));
    server.on('request', (request, response) => this.#answers.set(request.socket, response));
  }

  /**
   * The connection has carried a good token and a whole request: it makes room for no unknown client while it has work. Cheap to call with each
   * request. `holder`: whose token it was; left out, the connection was upgraded, and always has work.
   */
  trust(socket: Socket, holder?: string): void {
    if (holder === undefined) this.#answers.delete(socket);
    if (!this.#unproven.has(socket) && (holder !== ownerHolder || !this.#holders.has(socket))) return;
    this.#forget(socket);
    const name = holder ?? unnamedHolder;
    if (this.#isCrowded) this.#closeIdle(name);
    if (this.#isCrowded && !this.#makeRoom(name)) {
      this.#unproven.add(socket);
      return;
    }
    this.#holders.set(socket, name);
    const own = this.#proven.get(name);
    if (own === undefined) this.#proven.set(name, new Set([socket]));
    else own.add(socket);
  }

  /** True if `trust` has nothing more to give. */
  trusts(socket: Socket, holder: string): boolean {
    const known = this.#holders.get(socket);
    return known !== undefined && (known === holder || holder !== ownerHolder);
  }

  get #isCrowded(): boolean {
    this.#max ??= this.#limit();
    return this.#holders.size >= 0.75 * this.#max;
  }

  /** Keeps room for new clients. Idle connections are closed, since their holders can open them again; the owner's only for the owner. */
  #closeIdle(newcomer: string): void {
    for (const [socket, holder] of [...this.#holders]) {
      if (holder === ownerHolder && newcomer !== ownerHolder) continue;
      // What is on its way to a slow reader is not there yet.
      if (this.#answers.get(socket)?.writableFinished !== true) continue;
      this.#forget(socket);
      socket.destroy();
    }
  }

  /** The holder of the most gives up its newest, to the owner, or to a holder of fewer: it then counts like an unknown client's. */
  #makeRoom(newcomer: string): boolean {
    let most: Set<Socket> | undefined;
    for (const [holder, sockets] of this.#proven) if (holder !== ownerHolder && sockets.size > (most?.size ?? 0)) most = sockets;
    const held = newcomer === ownerHolder ? 0 : (this.#proven.get(newcomer)?.size ?? 0) + 1;
    if (most === undefined || most.size <= held) return false;
    const newest = [...most].at(-1);
    if (newest === undefined) return false;
    this.#forget(newest);
    this.#unproven.add(newest);
    return true;
  }

  #forget(socket: Socket): void {
    this.#unproven.delete(socket);
    const holder = this.#holders.get(socket);
    if (holder === undefined) return;
    this.#holders.delete(socket);
    const others = this.#proven.get(holder);
    others?.delete(socket);
    if (others?.size === 0) this.#proven.delete(holder);
  }

  #add(socket: Socket, onCut: (() => void) | undefined): void {
    this.#max ??= this.#limit();
    this.#unproven.add(socket);
    socket.once('close', () => this.#forget(socket));
    if (this.#unproven.size + this.#holders.size <= this.#max) return;
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

/** Those of this process. */
export const ownConnections = new Connections(() => connectionsWithin(ownDescriptorLimit()));
