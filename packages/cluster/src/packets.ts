/**
 * What goes over the bus between two hubs: a packet of frames, each of one exchange. Integers are big-endian.
 *
 *     packet   wire version (1) · length of the sender's id (1) · the sender's id · its lowest open number (6) · frames · signature (16)
 *     frame    type (1; the highest bit is set if the sender has opened the exchange) · number of the exchange (6), then
 *       data   sequence (4) · ack (4) · early (4) · kind (1) · flags (1: more pieces follow, 2: the last of this side) · length (4) · payload
 *       ack    ack (4) · early (4)
 *       over   why (1)
 *
 * The receiver's id is not in it, but in the key of the signature, so that what was sent to one hub is nothing to another. A later version
 * may change all but the first byte, and what that byte is signed with; a hub speaks the newest version that both have in their `HubView`.
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { deriveKey } from '@notebridge/protocol/util/derive-key';

/** The versions of packets and of what the payloads of calls mean: the newest that this program understands, and the oldest. */
export const hubWire = { newest: 1, oldest: 1 } as const;

export type WhyOver = 'ended' | 'full' | 'large';

export interface DataFrame {
  type: 'data';
  exchange: number;
  /** True: the sender of the frame has opened the exchange, and numbered it. */
  isOpeners: boolean;
  sequence: number;
  /** All frames of the other side below this number have arrived. */
  ack: number;
  /** Bit n: so has number `ack + 1 + n`. */
  early: number;
  /** What the message is; `isMore` pieces have the same. */
  kind: number;
  /** False: the message ends with this piece. */
  isMore: boolean;
  /** Nothing follows from this side. */
  isLast: boolean;
  payload: Uint8Array;
}

export type HubFrame =
  | DataFrame
  | { type: 'ack'; exchange: number; isOpeners: boolean; ack: number; early: number }
  /** The sender knows nothing of the exchange any more; or it did not begin it: it takes no more of them (`full`), or none so `large`. */
  | { type: 'over'; exchange: number; isOpeners: boolean; why: WhyOver };

export interface HubPacket {
  from: string;
  /** No exchange below is open at its opener, the sender, or ever will be. */
  lowest: number;
  frames: HubFrame[];
}

const signatureBytes = 16;
const types = ['data', 'ack', 'over'] as const;
const reasons: readonly WhyOver[] = ['ended', 'full', 'large'];
const openersBit = 0x80;
const more = 1;
const last = 2;
const frameHead = 7;
export const dataHead = frameHead + 18;
const ackSize = frameHead + 8;
const overSize = frameHead + 1;

/** What a packet has beside its frames, for a sender with an id of so many bytes. */
export function packetHead(idBytes: number): number {
  return 2 + idBytes + 6 + signatureBytes;
}

export function sizeOfFrame(frame: HubFrame): number {
  if (frame.type === 'data') return dataHead + frame.payload.length;
  return frame.type === 'ack' ? ackSize : overSize;
}

/** The bytes of a packet, with room for the signature at their end. */
export function writePacket(from: Buffer, lowest: number, frames: readonly HubFrame[]): Buffer {
  let size = packetHead(from.length);
  for (const frame of frames) size += sizeOfFrame(frame);
  const bytes = Buffer.allocUnsafe(size);
  bytes[0] = hubWire.newest;
  bytes[1] = from.length;
  bytes.set(from, 2);
  let at = bytes.writeUIntBE(lowest, 2 + from.length, 6);
  for (const frame of frames) at = writeFrame(bytes, at, frame);
  return bytes;
}

function writeFrame(bytes: Buffer, start: number, frame: HubFrame): number {
  bytes[start] = types.indexOf(frame.type) | (frame.isOpeners ? openersBit : 0);
  let at = bytes.writeUIntBE(frame.exchange, start + 1, 6);
  if (frame.type === 'over') return bytes.writeUInt8(reasons.indexOf(frame.why), at);
  if (frame.type === 'data') at = bytes.writeUInt32BE(frame.sequence, at);
  at = bytes.writeUInt32BE(frame.early, bytes.writeUInt32BE(frame.ack, at));
  if (frame.type === 'ack') return at;
  bytes[at++] = frame.kind;
  bytes[at++] = (frame.isMore ? more : 0) | (frame.isLast ? last : 0);
  at = bytes.writeUInt32BE(frame.payload.length, at);
  bytes.set(frame.payload, at);
  return at + frame.payload.length;
}

/** The id of the sender, before anything is checked. Undefined: these are no bytes of a packet. */
export function senderOf(bytes: Buffer): string | undefined {
  const length = bytes[1] ?? 0;
  return bytes.length < packetHead(length) ? undefined : bytes.toString('utf8', 2, 2 + length);
}

/** Reads a packet whose signature was checked. Undefined: it is none. Payloads are views of the bytes. */
export function readPacket(bytes: Buffer): HubPacket | undefined {
  const from = senderOf(bytes);
  if (from === undefined) return undefined;
  let at = 2 + (bytes[1] as number);
  const end = bytes.length - signatureBytes;
  const lowest = bytes.readUIntBE(at, 6);
  at += 6;
  const frames: HubFrame[] = [];
  while (at < end) {
    const frame = readFrame(bytes, at, end);
    if (frame === undefined) return undefined;
    frames.push(frame);
    at += sizeOfFrame(frame);
  }
  return { from, lowest, frames };
}

function readFrame(bytes: Buffer, start: number, end: number): HubFrame | undefined {
  const head = bytes[start] as number;
  const isOpeners = (head & openersBit) !== 0;
  const type = types[head & ~openersBit];
  const left = end - start;
  if (type === undefined || left < (type === 'data' ? dataHead : type === 'ack' ? ackSize : overSize)) return undefined;
  const exchange = bytes.readUIntBE(start + 1, 6);
  let at = start + frameHead;
  if (type === 'over') return { type, exchange, isOpeners, why: reasons[bytes[at] as number] ?? 'ended' };
  if (type === 'ack') return { type, exchange, isOpeners, ack: bytes.readUInt32BE(at), early: bytes.readUInt32BE(at + 4) };
  const sequence = bytes.readUInt32BE(at);
  const ack = bytes.readUInt32BE(at + 4);
  const early = bytes.readUInt32BE(at + 8);
  const kind = bytes[at + 12] as number;
  const flags = bytes[at + 13] as number;
  const length = bytes.readUInt32BE(at + 14);
  at += 18;
  if (length > end - at) return undefined;
  const payload = bytes.subarray(at, at + length);
  return { type, exchange, isOpeners, sequence, ack, early, kind, isMore: (flags & more) !== 0, isLast: (flags & last) !== 0, payload };
}

/**
 * Signs what one hub sends to one other, and checks it. The key is made of the cluster's for this use alone, and of both names, so that a
 * packet is worth nothing to another hub, in another cluster, or sent back to its sender.
 */
export class PacketSigner {
  readonly #key: KeyObject;

  constructor(key: Buffer, { cluster, from, to }: { cluster: string; from: string; to: string }) {
    this.#key = createSecretKey(deriveKey(key, `hub calls ${JSON.stringify([cluster, from, to])}`));
  }

  /** Writes the signature over the last bytes of the packet. */
  sign(packet: Buffer): void {
    packet.set(this.#signatureOf(packet), packet.length - signatureBytes);
  }

  isSigned(packet: Buffer): boolean {
    return packet.length > signatureBytes && timingSafeEqual(this.#signatureOf(packet), packet.subarray(packet.length - signatureBytes));
  }

  #signatureOf(packet: Buffer): Buffer {
    const signed = packet.subarray(0, packet.length - signatureBytes);
    return createHmac('sha256', this.#key).update(signed).digest().subarray(0, signatureBytes);
  }
}
