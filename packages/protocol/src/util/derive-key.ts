import { hkdfSync } from 'node:crypto';

/** A key for one purpose. Who has it learns nothing of the secret, nor of the keys of other purposes. */
export function deriveKey(secret: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), `notebridge ${purpose}`, 32));
}
