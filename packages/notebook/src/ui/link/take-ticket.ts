import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { type ChallengeAnswer, challengePath, type ProofInput, proofText } from '../../viewer/window-proof.js';

/** `unreachable`: nobody answers. `foreign`: whoever answers does not know the key of this window's host, and was sent nothing of use. */
export type TicketFault = 'unreachable' | 'foreign';

/** How long a host may take to answer. Milliseconds. */
const answerMs = 10_000;

/** A ticket for one socket, after the host has proven itself. By a library, and not by the browser: that signs on encrypted pages only. */
export async function takeTicket(key: string): Promise<{ ticket: string } | { fault: TicketFault }> {
  const { origin } = location;
  const nonce = toText(crypto.getRandomValues(new Uint8Array(24)));
  const answer = await challenge(nonce);
  if (answer === undefined) return { fault: 'unreachable' };
  const sign = (side: ProofInput['side'], theirs: string) => {
    const text = proofText({ side, origin, nonces: [nonce, theirs] });
    return toText(hmac(sha256, new TextEncoder().encode(key), new TextEncoder().encode(text)));
  };
  if (answer === 'other' || answer.proof !== sign('host', answer.nonce)) return { fault: 'foreign' };
  return { ticket: `${nonce}.${answer.nonce}.${sign('window', answer.nonce)}` };
}

async function challenge(nonce: string): Promise<ChallengeAnswer | 'other' | undefined> {
  try {
    const response = await fetch(challengePath, {
      method: 'POST',
      body: nonce,
      cache: 'no-store',
      redirect: 'error',
      signal: AbortSignal.timeout(answerMs),
    });
    const answer: unknown = response.ok ? await response.json().catch(() => undefined) : undefined;
    const { nonce: theirs, proof } = (answer ?? {}) as Partial<ChallengeAnswer>;
    return typeof theirs === 'string' && typeof proof === 'string' ? { nonce: theirs, proof } : 'other';
  } catch {
    return undefined;
  }
}

function toText(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
