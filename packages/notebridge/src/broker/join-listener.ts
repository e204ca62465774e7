import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Peer } from '@notebridge/protocol/rpc/peer';
import { createToken } from '@notebridge/protocol/util/token';
import { closeToOthers, ensurePrivateDir, namesInPrivateDir, removePrivateFile } from '@notebridge/system/files/private-file';
import { systemFault } from '@notebridge/system/files/system-fault';
import { processExists } from '@notebridge/system/processes/living-process';
import { ownProcessId, ownUserId } from '@notebridge/system/processes/own-user';
import { type LinkHandler, openJoinLink } from './join-link.js';
import { admitJoiner } from './join-proof.js';

export interface JoinListenerOptions {
  /** The user's state folder: the socket stands there, where no other user can dial it. */
  dir: string;
  version: string;
  createHandler: (peer: Peer) => LinkHandler;
}

/**
 * Connections that have not proved themselves yet. One more, and the oldest is hung up on: a proof takes milliseconds, so whoever only holds
 * connections open keeps nobody out. They come from other users where the socket is a port.
 */
const maxPending = 128;
/** The shortest limit of the systems on the path of a socket, less its end. */
const maxSocketPath = 100;

/** Listens for processes of the same user that know the secret. */
export class JoinListener {
  readonly address: string;
  readonly secret: string;
  readonly #server: Server;
  readonly #path: string | undefined;
  readonly #peers: Set<Peer>;

  private constructor({ server, path, secret, peers }: { server: Server; path: string | undefined; secret: string; peers: Set<Peer> }) {
    this.address = path === undefined ? `tcp:${(server.address() as AddressInfo).port}` : `unix:${path}`;
    this.secret = secret;
    this.#server = server;
    this.#path = path;
    this.#peers = peers;
  }

  /** Rejects with `write_failed` if the folder is not the user's own alone, or nothing can listen there. */
  static async open({ dir, version, createHandler }: JoinListenerOptions): Promise<JoinListener> {
    ensurePrivateDir(dir, { uid: ownUserId() });
    sweepSockets(dir);
    const wanted = join(dir, `host-${ownProcessId()}.sock`);
    // A path that is too long, and a system without such sockets: a port of loopback, which the proof alone keeps.
    const path = ownUserId() === undefined || Buffer.byteLength(wanted) > maxSocketPath ? undefined : wanted;
    if (path !== undefined) removePrivateFile(path);
    const secret = createToken();
    const peers = new Set<Peer>();
    let address = '';
    const pending = new Set<Socket>();
    const admit = async (socket: Socket): Promise<void> => {
      socket.on('error', () => socket.destroy());
      pending.add(socket);
      const [oldest] = pending;
      if (pending.size > maxPending && oldest !== undefined) {
        pending.delete(oldest);
        oldest.destroy();
      }
      const isAdmitted = await admitJoiner(socket, { secret, address, version }).finally(() => pending.delete(socket));
      if (!isAdmitted || !server.listening) return void socket.end();
      const peer: Peer = openJoinLink(socket, createHandler, () => peers.delete(peer));
      peers.add(peer);
    };
    const server = createServer({ noDelay: true }, (socket) => void admit(socket));
    await listen(server, path, dir);
    const listener = new JoinListener({ server, path, secret, peers });
    address = listener.address;
    return listener;
  }

  /** How many processes are linked. */
  get links(): number {
    return this.#peers.size;
  }

  /** Nobody is let in any more; links that are there stay. */
  stop(): void {
    this.#server.close();
    if (this.#path !== undefined) removePrivateFile(this.#path);
  }

  /** Ends all links too. Closing twice is harmless. */
  close(): void {
    this.stop();
    for (const peer of [...this.#peers]) peer.close();
  }
}

function listen(server: Server, path: string | undefined, dir: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(systemFault(`Cannot listen in "${dir}"`, dir, error)));
    const ready = (): void => {
      if (path !== undefined) closeToOthers(path);
      resolve();
    };
    if (path === undefined) server.listen({ port: 0, host: '127.0.0.1' }, ready);
    else server.listen(path, ready);
  });
}

/** What processes have left that were killed. */
function sweepSockets(dir: string): void {
  for (const name of namesInPrivateDir(dir)) {
    const pid = Number(/^host-(\d+)\.sock$/.exec(name)?.[1]);
    if (pid > 0 && !processExists(pid)) removePrivateFile(join(dir, name));
  }
}
