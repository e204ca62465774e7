import { connect, type Socket } from 'node:net';
import type { JsonObject } from '@notebridge/kit/json';
import { messageOf } from '@notebridge/kit/message-of';
import type { Cancellation } from '../core/cancellation.js';
import { BridgeError, errorTable, RemoteError } from '../core/errors.js';
import { createLineChannel } from '../rpc/line-channel.js';
import { Peer } from '../rpc/peer.js';
import type { HostPlace } from './host-place.js';
import { otherVersion, proveToHost } from './join-proof.js';

/** What one side of a link does for the other. */
export interface LinkHandler {
  request(method: string, params: JsonObject, call: Cancellation): Promise<JsonObject>;
  notify(method: string, params: JsonObject): void;
  /** The link has ended, once. */
  closed(): void;
}

/** A result may hold many images. */
const maxMessageLength = 256 * 1024 * 1024;

/** JSON-RPC over a socket whose two ends have proved themselves. */
export function openJoinLink(socket: Socket, createHandler: (peer: Peer) => LinkHandler): Peer {
  const channel = createLineChannel({
    input: socket,
    output: socket,
    maxMessageLength,
    // Both ends are ours and of one version: what cannot be read is a fault, and nothing after it would be right.
    onUnreadable: () => socket.destroy(),
  });
  let handler: LinkHandler | undefined;
  const peer: Peer = new Peer({
    channel,
    onRequest: ({ method, params = {} }, call) => handler?.request(method, params, call) ?? Promise.reject(notReady()),
    onNotification: ({ method, params = {} }) => handler?.notify(method, params),
    onFault: () => {},
    onClose: () => {
      channel.outgoing.close();
      socket.end();
      handler?.closed();
    },
  });
  handler = createHandler(peer);
  socket.resume();
  return peer;
}

/**
 * Joins the host of a place. Rejects with `not_ours` where something else listens, or nothing, and with `other_version`. Nothing secret is
 * sent before the host has proved itself.
 */
export async function dialHost(place: HostPlace, version: string, createHandler: (peer: Peer) => LinkHandler): Promise<Peer> {
  if (place.version !== version)
    throw new BridgeError('other_version', otherVersion({ pid: place.pid, theirs: place.version, ours: version }), {
      data: { pid: place.pid, version: place.version },
    });
  const socket = await connectTo(place.address);
  try {
    await proveToHost(socket, { ...place, version });
  } catch (error) {
    socket.destroy();
    throw error;
  }
  return openJoinLink(socket, createHandler);
}

/** The error of the other side, under its own code if it is one of ours. */
export function toOwnError(error: unknown): unknown {
  if (!(error instanceof RemoteError)) return error;
  const { code, ...data } = (error.raw.data ?? {}) as JsonObject;
  if (typeof code !== 'string' || !Object.hasOwn(errorTable, code)) return error;
  return new BridgeError(code as keyof typeof errorTable, error.message, { data });
}

function connectTo(address: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const [kind, rest = ''] = [address.slice(0, address.indexOf(':')), address.slice(address.indexOf(':') + 1)];
    const port = Number(rest);
    if (kind !== 'unix' && !(kind === 'tcp' && port > 0 && port < 65_536))
      return reject(new BridgeError('not_ours', `"${address}" is no address that a host of ours listens at.`));
    const socket = kind === 'unix' ? connect(rest) : connect({ port, host: '127.0.0.1' });
    const fail = (error: Error): void => {
      reject(new BridgeError('not_ours', `Nothing of ours listens at ${address}: ${messageOf(error)}`, { cause: error }));
    };
    socket.once('error', fail).once('connect', () => {
      socket.off('error', fail).on('error', () => socket.destroy());
      resolve(socket);
    });
  });
}

function notReady(): BridgeError {
  return new BridgeError('not_started', 'The link is not open yet.');
}
