import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import type { Runtime } from './runtime.js';

const saltBytes = 16;
const tagBytes = 16;
/** Each text has a key of its own, so that this need not differ. */
const nonce = Buffer.alloc(12);

/** Texts that only holders of a key can read or make, each under a name: what was sealed under one opens under no other. */
export class SealedTexts {
  readonly #key: Buffer;
  readonly #runtime: Pick<Runtime, 'bytes'>;

  /** `key`: 32 bytes for this purpose alone. */
  constructor(key: Buffer, runtime: Pick<Runtime, 'bytes'>) {
    this.#key = key;
    this.#runtime = runtime;
  }

  seal(name: string, text: string): string {
    const salt = this.#runtime.bytes(saltBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#keyOf(salt), nonce).setAAD(Buffer.from(name));
    const sealed = [salt, cipher.update(text, 'utf8'), cipher.final()];
    return Buffer.concat([...sealed, cipher.getAuthTag()]).toString('base64url');
  }

  /** Undefined for what was not sealed under this key and name. */
  open(name: string, sealed: string): string | undefined {
    const bytes = Buffer.from(sealed, 'base64url');
    if (bytes.length < saltBytes + tagBytes) return undefined;
    const decipher = createDecipheriv('aes-256-gcm', this.#keyOf(bytes.subarray(0, saltBytes)), nonce, { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(-tagBytes));
    try {
      const text = decipher.update(bytes.subarray(saltBytes, -tagBytes));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    } catch {
      return undefined;
    }
  }

  #keyOf(salt: Buffer): Buffer {
    return createHmac('sha256', this.#key).update(salt).digest();
  }
}
