import { createHmac } from 'node:crypto';
import { deriveKey } from '@notebridge/protocol/util/derive-key';
import { isSameToken } from '@notebridge/protocol/util/token';

const macCharacters = 32;

/** Puts a code of a text, and of what the text is, before it: none but those who have the key can make one. `use` sets the key apart from others. */
export class TextSigner {
  readonly #key: Buffer;

  constructor(key: Buffer, use: string) {
    this.#key = deriveKey(key, use);
  }

  sign(what: string, text: string): string {
    return `${this.#codeOf(what, text)}${text}`;
  }

  /** The text. Undefined: nobody with the key has signed it as that. */
  open(what: string, signed: string): string | undefined {
    const text = signed.slice(macCharacters);
    return isSameToken(signed.slice(0, macCharacters), this.#codeOf(what, text)) ? text : undefined;
  }

  #codeOf(what: string, text: string): string {
    return createHmac('sha256', this.#key).update(`${what}\n${text}`).digest('base64url').slice(0, macCharacters);
  }
}
