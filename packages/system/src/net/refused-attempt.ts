/** A refused attempt to get in, as the audit may record it. The credentials are no part of it. */
export interface RefusedAttempt {
  /** Where: as `Caller.door` where callers come in there, else by its own name. */
  door: 'tool-proxy' | 'http' | 'owner' | 'exchange' | 'console' | 'metrics' | 'connect' | 'page' | 'window' | 'other';
  /** Why, one of our own words: `missing`, `malformed`, `unknown`, `expired`, `revoked`, `wrong_door`, `wrong_host`, `wrong_origin`, `insufficient_scope`, `unverified`, `other_user`. */
  reason: string;
  /** The grant, where what was shown is the token of one. */
  grantId?: string | undefined;
  /** The other end of the connection. */
  remoteAddress: string | undefined;
}

/** Called for each. */
export type OnRefused = (attempt: RefusedAttempt) => void;
