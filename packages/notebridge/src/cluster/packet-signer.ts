import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { deriveKey } from '../util/derive-key.js';
import { signatureBytes } from './packets.js';

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
