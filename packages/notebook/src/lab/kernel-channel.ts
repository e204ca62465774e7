import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type WebSocket from 'ws';
import type { KernelMessage, KernelRequest } from '../kernel/jupyter-protocol/kernel-message.js';
import { objectOf } from '../model/disk-cell.js';
import type { JupyterServer } from './jupyter-server.js';

export interface ChannelOptions {
  /** A UUID of the client's own. A second socket with the same one closes the first, and receives what came while there was none. */
  session: string;
  /** Parses JSON. Default: that of JavaScript. */
  parse?: ((text: string) => unknown) | undefined;
  onMessage: (message: KernelMessage) => void;
}

/** Jupyter's binary framing of messages; a server without it speaks JSON. */
const binaryProtocol = 'v1.kernel.websocket.jupyter.org';
/** The parts of a message behind its channel, in the order of the binary framing. */
const partNames = ['header', 'parent_header', 'metadata', 'content'] as const;

/** The socket to one kernel of the server, as long as both live. */
export class KernelChannel {
  /** Called once: closed by us, or gone. */
  readonly closed: Promise<void>;
  readonly #socket: WebSocket;
  readonly #session: string;

  private constructor(socket: WebSocket, { session, parse, onMessage }: ChannelOptions) {
    this.#socket = socket;
    this.#session = session;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    socket.on('message', (data: Buffer, isBinary) => {
      const message = parseKernelMessage(data, isBinary, parse);
      if (message) onMessage(message);
    });
    socket.resume();
  }

  /** Rejects as `JupyterServer.connect` does. */
  static async open(server: JupyterServer, kernelId: string, options: ChannelOptions): Promise<KernelChannel> {
    const socket = await server.connect(`api/kernels/${encodeURIComponent(kernelId)}/channels`, {
      query: { session_id: options.session },
      protocols: [binaryProtocol],
    });
    return new KernelChannel(socket, options);
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  /** Returns the id of the message. Buffers are left out. */
  send({ channel, type, content, metadata = {}, parentHeader = {} }: KernelRequest): string {
    const id = randomUUID();
    const date = new Date().toISOString();
    const header = { msg_id: id, msg_type: type, username: 'notebridge', session: this.#session, date, version: '5.3' };
    const message = { channel, header, parent_header: parentHeader, metadata, content, buffers: [] };
    this.#socket.send(this.#socket.protocol === binaryProtocol ? printBinary(message) : JSON.stringify(message));
    return id;
  }

  close(): void {
    this.#socket.close();
    // A server that has hung up does not answer the handshake of the end.
    const timer = setTimeout(() => this.#socket.terminate(), 1000);
    this.#socket.once('close', () => clearTimeout(timer));
  }
}

/** Undefined for what is no message. Binary buffers, which widgets use, are left out. */
export function parseKernelMessage(
  data: Buffer,
  isBinary: boolean,
  parse: (text: string) => unknown = JSON.parse,
): KernelMessage | undefined {
  try {
    return toMessage(isBinary ? parseBinary(data, parse) : parse(data.toString('utf8')));
  } catch {
    return undefined;
  }
}

/** How many offsets there are, the start of each part and the end of the last, then the parts. */
function printBinary(message: { [name in (typeof partNames)[number]]: JsonObject } & { channel: string }): Buffer {
  const parts = [message.channel, ...partNames.map((name) => JSON.stringify(message[name]))].map((text) => Buffer.from(text));
  const head = Buffer.alloc(8 * (parts.length + 2));
  head.writeBigUInt64LE(BigInt(parts.length + 1), 0);
  let at = head.length;
  [...parts, Buffer.alloc(0)].forEach((part, index) => {
    head.writeBigUInt64LE(BigInt(at), 8 * (index + 1));
    at += part.length;
  });
  return Buffer.concat([head, ...parts]);
}

function parseBinary(data: Buffer, parse: (text: string) => unknown): JsonObject | undefined {
  const count = Number(data.readBigUInt64LE(0));
  if (count < 6 || count > data.length / 8) return undefined;
  const offsets = Array.from({ length: count }, (_, index) => Number(data.readBigUInt64LE(8 * (index + 1))));
  const text = (part: number) => data.toString('utf8', offsets[part], offsets[part + 1]);
  return { channel: text(0), ...Object.fromEntries(partNames.map((name, index) => [name, parse(text(index + 1))])) };
}

function toMessage(message: unknown): KernelMessage | undefined {
  if (!isJsonObject(message) || !isJsonObject(message.header)) return undefined;
  const { channel, header } = message;
  const parentHeader = objectOf(message.parent_header);
  const { msg_id: parentId } = parentHeader;
  return {
    channel: String(channel),
    type: String(header.msg_type),
    header,
    parentId: typeof parentId === 'string' ? parentId : '',
    parentHeader,
    content: objectOf(message.content),
    metadata: objectOf(message.metadata),
    buffers: [],
  };
}
