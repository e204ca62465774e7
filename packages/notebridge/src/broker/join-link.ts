import { connect, type Socket } from 'node:net';
import type { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError, errorTable, RemoteError } from '@notebridge/protocol/core/errors';
import type { JsonObject } from '@notebridge/protocol/json';
import { createLineChannel } from '@notebridge/protocol/rpc/line-channel';
import { Peer } from '@notebridge/protocol/rpc/peer';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { type HostPlace, isSameProcess } from './host-place.js';
import { otherVersion, proveToHost } from './join-proof.js';
import { LinkPace } from './link-pace.js';

/** What one side of a link does for the other. */
export interface LinkHandler {
  request(method: string, params: JsonObject, call: Cancellation): Promise<JsonObject>;
  notify(method: string, params: JsonObject): void;
  /** The link has ended, once. */
  closed(): void;
}

/** A result may hold many images. */
const maxMessageLength = 256 * 1024 * 1024;
/** What is written when a link ends has so long to leave. Milliseconds. */
const lastWordsMs = 2000;
/** Asked by the side that joined; answered by what opens the link, whatever the notebook does. */
const pingMethod = 'link/ping';
const pingMs = 5000;
/** With `pingMs`: a host that says nothing for half a minute is given up. */
const maxUnanswered = 6;

/** For a side that asks, and does nothing for the other. */
const doesNothing: LinkHandler = {
  request: () => Promise.reject(new BridgeError('unknown_method', 'Nothing is answered here.')),
  notify: () => {},
  closed: () => {},
};

/** JSON-RPC over a socket whose two ends have proved themselves. `onClose` is called before its handler. */
export function openJoinLink(socket: Socket, createHandler: (peer: Peer) => LinkHandler, onClose: () => void = () => {}): Peer {
  const channel = createLineChannel({
    input: socket,
    output: socket,
    maxMessageLength,
    // Both ends are ours and of one version: what cannot be read is a fault, and nothing after it would be right.
    onUnreadable: () => socket.destroy(),
    // A process that is killed resets the connection, or leaves a pipe that nobody reads: the other side is gone, as after any other end.
    onEnd: (cause) => channel.incoming.close(cause && new BridgeError('closed', `The other side has gone: ${messageOf(cause)}`, { cause })),
  });
  const pace = new LinkPace(socket);
  let handler: LinkHandler | undefined;
  const peer: Peer = new Peer({
    channel,
    onRequest: ({ method, params = {} }, call) => {
      const begin = () => handler?.request(method, params, call) ?? Promise.reject(notReady());
      if (method === pingMethod) return Promise.resolve({});
      const turn = pace.next();
      return turn === undefined ? begin() : turn.then(begin);
    },
    onNotification: ({ method, params = {} }) => handler?.notify(method, params),
    onFault: () => {},
    onClose: () => {
      channel.outgoing.close();
      socket.end();
      // The other side may be stopped, and never end its half.
      const timer = setTimeout(() => socket.destroy(), lastWordsMs).unref();
      socket.once('close', () => clearTimeout(timer));
      onClose();
      handler?.closed();
    },
  });
  handler = createHandler(peer);
  socket.resume();
  return peer;
}

/**
 * Joins the host of a place. Rejects with `not_ours` where something else listens, or nothing, with `host_silent` where its process runs and
 * does not answer, and with `other_version`. Nothing secret is sent before the host has proved itself.
 */
export async function dialHost(
  place: HostPlace,
  version: string,
  createHandler: (peer: Peer) => LinkHandler = () => doesNothing,
): Promise<Peer> {
  if (place.version !== version)
    throw new BridgeError('other_version', otherVersion({ pid: place.pid, theirs: place.version, ours: version }), {
      data: { pid: place.pid, version: place.version },
    });
  let socket: Socket | undefined;
  try {
    socket = await connectTo(place.address);
    await proveToHost(socket, { ...place, version });
  } catch (error) {
    socket?.destroy();
    throw isSilence(error) && isSameProcess(place) ? silent(place, error) : error;
  }
  const link = openJoinLink(socket, createHandler);
  watch(link, socket);
  return link;
}

/** Ends a link whose host is stopped, or hangs: else a call would wait for it until its own timeout, an hour. */
function watch(link: Peer, socket: Socket): void {
  let unanswered = 0;
  // Ticks are counted and not time: when a machine wakes up, both sides have slept.
  const timer = setInterval(() => {
    if (++unanswered > maxUnanswered) return void socket.destroy();
    void link.request(pingMethod, {}).then(
      () => {
        unanswered = 0;
      },
      () => {},
    );
  }, pingMs).unref();
  socket.once('close', () => clearInterval(timer));
}

/** Nothing was there, or said anything: unlike a wrong proof, which is somebody else's. */
function isSilence(error: unknown): boolean {
  return error instanceof BridgeError && error.code === 'not_ours' && error.data.hasAnswered !== true;
}

function silent({ pid, address }: HostPlace, cause: unknown): BridgeError {
  return new BridgeError(
    'host_silent',
    `The process ${pid} holds notebooks of yours at ${address}, and does not answer: it is stopped, or very busy. Nothing was sent to it. Try again; if it is stopped, "kill -CONT ${pid}" lets it go on. "kill ${pid}" ends it, and it saves first.`,
    { data: { pid }, cause },
  );
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
