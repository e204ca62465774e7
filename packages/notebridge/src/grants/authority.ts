import { BridgeError } from '@notebridge/protocol/core/errors';
import { owner, type Principal } from '@notebridge/protocol/core/principal';
import { hashSecret, isSecret } from '../identity/secret.js';
import { type EndOfGrant, unverified } from './ended-grants.js';
import type { GrantDoor, LiveGrant } from './grant.js';
import type { GrantStore } from './grant-store.js';

export interface AuthorityOptions {
  store: GrantStore;
  /** Left out: no token is the owner's. */
  ownerToken?: string | undefined;
  /** True for the token of a tab of the console that is signed in: it calls as the owner. Left out: none does. */
  isTab?: ((token: string) => boolean) | undefined;
  /** Lets in callers without a valid token, as `anonymous`: `--no-auth`. Default false. */
  noAuth?: boolean | undefined;
}

/** Why a caller was refused: `data.reason` of the `bad_grant`. All but `missing` may be guessing, and are to be slowed down. */
export type Refused = 'missing' | 'malformed' | 'unknown' | 'expired' | 'revoked' | 'wrong_door';

export interface Authority {
  /**
   * On whose behalf the holder of this `Authorization` header calls.
   *
   * @throws BridgeError `bad_grant` with `data.reason`, and `data.grant_id` where the token is or was of a grant; `cluster_unavailable` if nobody
   *   can tell now. The token is in neither message nor data. A promise, which rejects so, only where another hub may have issued a token in
   *   this moment.
   */
  authenticate(authorization: string | undefined, door: GrantDoor): Principal | Promise<Principal>;
}

const anonymous: Principal = { kind: 'anonymous' };
const bearer = /^Bearer +([\w.~+/-]{1,512}=*)$/i;

/** The token of an `Authorization` header; undefined where it has none. */
export function tokenOf(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : bearer.exec(authorization)?.[1];
}

const messages: Record<Refused, string> = {
  missing: 'This needs a token. Issue one with `notebridge grant`, and send it as `Authorization: Bearer …`.',
  malformed: 'The Authorization header must read "Bearer <token>". Send the token as `notebridge grant` printed it.',
  unknown: 'The token is none that was issued here, or ended long ago. Issue one with `notebridge grant`.',
  expired: 'The grant of this token has expired. Issue a new one with `notebridge grant`; a token file is to be read again.',
  revoked: 'The grant of this token was revoked. Issue a new one with `notebridge grant`.',
  wrong_door:
    'The grant of this token is for another door. Issue one for this door: `notebridge grant --door tools`, `--door agent` or `--door watch`.',
};

/** Identifies callers by their token. A grant opens the door that it was issued for; the owner's token opens all. */
export function createAuthority({ store, ownerToken, isTab, noAuth = false }: AuthorityOptions): Authority {
  const ownerHash = ownerToken === undefined ? undefined : hashSecret(ownerToken);
  const toPrincipal = (grant: LiveGrant | EndOfGrant, door: GrantDoor): Principal | Refused => {
    if (grant === 'unverified') throw unverified();
    if (typeof grant === 'string') return grant;
    return grant.door === door ? { kind: 'grant', grantId: grant.id } : 'wrong_door';
  };
  const look = (token: string, door: GrantDoor): Principal | Refused => {
    switch (token.slice(0, 4)) {
      case 'nbo_':
        // Digests may be compared in any way: where two of them differ reveals nothing of a token.
        return isSecret(token, 'nbo_') && hashSecret(token) === ownerHash ? owner : 'unknown';
      case 'nbc_':
        return isTab?.(token) === true ? owner : 'unknown';
      default:
        return toPrincipal(store.find(token), door);
    }
  };
  const admit = (found: Principal | Refused, token: string | undefined): Principal => {
    if (typeof found !== 'string') return found;
    if (noAuth) return anonymous;
    const grantId = token === undefined ? undefined : store.idOf(token);
    const data = { reason: found, ...(grantId === undefined ? {} : { grant_id: grantId }) };
    throw new BridgeError('bad_grant', messages[found], { data });
  };
  return {
    authenticate: (authorization, door) => {
      const token = tokenOf(authorization);
      if (token === undefined) return admit(authorization === undefined || authorization === '' ? 'missing' : 'malformed', token);
      const found = look(token, door);
      const later = found === 'unknown' ? store.findLater(token) : undefined;
      return later === undefined ? admit(found, token) : later.then((grant) => admit(toPrincipal(grant, door), token));
    },
  };
}
