import { createHmac, randomInt } from 'node:crypto';
import { isSameToken } from '@notebridge/protocol/util/token';
import { type CodeVerdict, codeLifeMs } from '@notebridge/system/net/entry-codes';
import type { TypedCodes } from '@notebridge/system/net/entry-gate';
import { ensureOwnerToken } from './owner-token.js';

/** Without letters that are taken for others (Crockford’s Base32). */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/**
 * A code is the minute, a number that tells those of one minute apart, and the proof. Nobody slows guesses down that come on many connections: at ten
 * thousand a second, one of 52 bits is found in ten thousand years.
 */
const minuteBits = 16n;
const numberBits = 12n;
const proofBits = 52n;
const codeBits = Number(minuteBits + numberBits + proofBits);
const minuteMs = 60_000;
const minutes = 2 ** Number(minuteBits);
const numbers = 2 ** Number(numberBits);
/** Of this process. It begins anywhere, since others of the user count too. */
let lastNumber = randomInt(numbers);
/** Remembered as used; the oldest goes. Only a right one is remembered. */
const maxUsed = 4096;

/**
 * A code for a form, for who has come by an address as another user or from another machine: it is shown in a terminal alone, and proves that who
 * types it reads what this user reads. Each process of the user knows it as good by the owner's token: it need not be told of it.
 */
export function createTypedCode(ownerToken: string, now = Date.now()): string {
  lastNumber = (lastNumber + 1) % numbers;
  const head = (BigInt(Math.floor(now / minuteMs) % minutes) << numberBits) | BigInt(lastNumber);
  return toText((head << proofBits) | proofOf(ownerToken, head));
}

/** Takes typed codes: each once, within 15 minutes. */
export function acceptTypedCodes(stateDir: string, now: () => number = Date.now): TypedCodes {
  const used = new Set<string>();
  return {
    redeem: (text): CodeVerdict => {
      const code = parse(text);
      if (code === undefined) return 'unknown';
      const head = code >> proofBits;
      const given = code & ((1n << proofBits) - 1n);
      if (!isSameToken(given.toString(), proofOf(ensureOwnerToken(stateDir), head).toString())) return 'unknown';
      const key = toText(code);
      if (used.has(key)) return 'used';
      const age = (Math.floor(now() / minuteMs) - Number(head >> numberBits) + minutes) % minutes;
      // A code of the minute to come is good too: the clock was set back.
      if (age > codeLifeMs / minuteMs && age !== minutes - 1) return 'expired';
      used.add(key);
      const [oldest] = used;
      if (used.size > maxUsed && oldest !== undefined) used.delete(oldest);
      return 'good';
    },
  };
}

function proofOf(ownerToken: string, head: bigint): bigint {
  const digest = createHmac('sha256', ownerToken).update(`notebridge-typed-code-2\n${head}`).digest();
  return digest.readBigUInt64BE() >> (64n - proofBits);
}

/** As it is read out: `7K2M-9QXP-3TRV-W8D4`. */
function toText(code: bigint): string {
  let text = '';
  for (let shift = codeBits - 5; shift >= 0; shift -= 5) text += alphabet[Number((code >> BigInt(shift)) & 31n)];
  return (text.match(/.{4}/g) ?? []).join('-');
}

/** However it is typed. Undefined for what is none. */
function parse(text: string): bigint | undefined {
  const plain = text.toUpperCase().replace(/[\s-]/g, '').replace(/O/g, '0').replace(/[IL]/g, '1');
  if (plain.length !== codeBits / 5) return undefined;
  let code = 0n;
  for (const letter of plain) {
    const at = alphabet.indexOf(letter);
    if (at < 0) return undefined;
    code = (code << 5n) | BigInt(at);
  }
  return code;
}
