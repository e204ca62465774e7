import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject } from '@notebridge/kit/json';

/** A message of Jupyter's kernel protocol, as far as it matters here. */
export interface KernelMessage {
  readonly channel: string;
  readonly type: string;
  readonly id: string;
  /** The request that it belongs to; empty for none. */
  readonly parentId: string;
  /** What kind of request that is; empty for none. */
  readonly parentType: string;
  /** The session of the client that sent it; empty for none. */
  readonly parentSession: string;
  readonly content: JsonObject;
  readonly metadata: JsonObject;
}

export interface KernelRequest {
  channel: 'shell' | 'control' | 'stdin';
  type: string;
  content: JsonObject;
}

/** Jupyter's binary framing of messages; a server without it speaks JSON. */
export const binaryProtocol = 'v1.kernel.websocket.jupyter.org';

/** A message with its new id. */
export function createMessage({ channel, type, content }: KernelRequest, session: string): { id: string; message: JsonObject } {
  const id = randomUUID();
  const header = { msg_id: id, msg_type: type, username: 'notebridge', session, date: new Date().toISOString(), version: '5.3' };
  return { id, message: { channel, header, parent_header: {}, metadata: {}, content, buffers: [] } };
}

/** As the server takes it: text for JSON, bytes for the binary framing. */
export function printKernelMessage(message: JsonObject, isBinary: boolean): string | Buffer {
  if (!isBinary) return JSON.stringify(message);
  const parts = [
    Buffer.from(String(message.channel)),
    ...['header', 'parent_header', 'metadata', 'content'].map((part) => Buffer.from(JSON.stringify(message[part]))),
  ];
  // How many offsets there are, the start of each part, and the end of the last.
  const head = Buffer.alloc(8 * (parts.length + 2));
  head.writeBigUInt64LE(BigInt(parts.length + 1), 0);
  let at = head.length;
  parts.forEach((part, index) => {
    head.writeBigUInt64LE(BigInt(at), 8 * (index + 1));
    at += part.length;
  });
  head.writeBigUInt64LE(BigInt(at), 8 * (parts.length + 1));
  return Buffer.concat([head, ...parts]);
}

/** Undefined for what is no message. Binary buffers, which widgets use, are left out. */
export function parseKernelMessage(
  data: Buffer,
  isBinary: boolean,
  parse: (text: string) => unknown = JSON.parse,
): KernelMessage | undefined {
  try {
    return isBinary ? parseBinary(data, parse) : toMessage(parse(data.toString('utf8')));
  } catch {
    return undefined;
  }
}

/**
 * For a status. A kernel is busy and idle for each request, also for those on the control channel, which it answers while a cell runs: what
 * others ask there, as each server does for each new client, says nothing of the cells. `session`: of the client that hears it.
 */
export function tellsOfCells({ parentType, parentSession }: KernelMessage, session: string): boolean {
  return parentType === '' || parentSession === session || runsCode.has(parentType);
}

/** Requests by which code runs in a kernel: cells, and what widgets send. */
const runsCode: ReadonlySet<string> = new Set(['execute_request', 'comm_open', 'comm_msg', 'comm_close']);

function parseBinary(data: Buffer, parse: (text: string) => unknown): KernelMessage | undefined {
  const count = Number(data.readBigUInt64LE(0));
  if (count < 6 || count > data.length / 8) return undefined;
  const offsets = Array.from({ length: count }, (_, index) => Number(data.readBigUInt64LE(8 * (index + 1))));
  const text = (part: number) => data.toString('utf8', offsets[part], offsets[part + 1]);
  const [header, parent_header, metadata, content] = [1, 2, 3, 4].map((part) => parse(text(part)));
  return toMessage({ channel: text(0), header, parent_header, metadata, content });
}

function toMessage(message: unknown): KernelMessage | undefined {
  if (!isJsonObject(message) || !isJsonObject(message.header)) return undefined;
  const { channel, header, parent_header: parent, metadata, content } = message;
  return {
    channel: String(channel),
    type: String(header.msg_type),
    id: String(header.msg_id),
    parentId: textOf(parent, 'msg_id'),
    parentType: textOf(parent, 'msg_type'),
    parentSession: textOf(parent, 'session'),
    content: isJsonObject(content) ? content : {},
    metadata: isJsonObject(metadata) ? metadata : {},
  };
}

function textOf(header: unknown, key: string): string {
  const value = isJsonObject(header) ? header[key] : undefined;
  return typeof value === 'string' ? value : '';
}
