/**
 * How a window and its host prove to each other that they know the windows' key, which neither sends: whoever took the port of a host that has
 * ended learns nothing that opens the next one. The window sends a nonce to `challengePath`; the host answers with its own and its proof; the
 * window opens its socket with a ticket, which is both nonces and its own proof, good once.
 */
export const challengePath = '/challenge';

export interface ProofInput {
  readonly side: 'host' | 'window';
  /** Of the page. Part of the proof: else whoever listens there could have another port's host answer. */
  readonly origin: string;
  /** Of the window, then of the host. */
  readonly nonces: readonly [string, string];
}

/** The host's answer to a nonce. */
export interface ChallengeAnswer {
  readonly nonce: string;
  readonly proof: string;
}

/** What HMAC-SHA-256 signs with the windows' key; proofs are base64url. */
export function proofText({ side, origin, nonces }: ProofInput): string {
  return ['notebridge-window-1', side, origin, ...nonces].join('\n');
}

/** Of 24 random bytes in base64url. */
export function isWindowNonce(text: string): boolean {
  return /^[\w-]{32}$/.test(text);
}
