import { hash } from 'node:crypto';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Principal } from '@notebridge/protocol/core/principal';
import { isJsonObject } from '@notebridge/protocol/json';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import { largestOf } from '@notebridge/protocol/util/long-lists';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { readAtMost } from '@notebridge/protocol/util/read-at-most';
import { Throttle } from '@notebridge/protocol/util/throttle';
import { tryJson } from '@notebridge/protocol/util/try-json';
import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import type { DoorAuth, DoorScope } from '../config/door-auth.js';
import { unverified } from './ended-grants.js';
import { createGrant } from './grant.js';
import type { GrantStore } from './grant-store.js';
import { IdentityGrants, type IdentityTerms } from './identity-grants.js';

export interface AccessTokensOptions {
  auth: DoorAuth;
  store: GrantStore;
  logger?: Logger;
  /** Milliseconds since the epoch. Default: the clock. */
  now?: () => number;
}

/** A list of ours: what the token itself names decides nothing. None that is made with a secret. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];
const maxLength = 16_384;
/** Clocks of two machines may differ by so much. Seconds. */
const leewayS = 30;
/** However long a token holds, its grant is looked after once a day. Milliseconds. */
const longestMs = 24 * 3_600_000;
const maxKnown = 1000;
/** Errors of `jose` that say something of the token; any other means that it could not be verified. */
const ofToken = /^ERR_(JWT_|JWS_|JOSE_(ALG_NOT_ALLOWED|NOT_SUPPORTED)|JWKS_(NO_MATCHING_KEY|MULTIPLE_MATCHING_KEYS))/;

/** For so long a token is known without a look at the keys: the issuer may have withdrawn the one that signed it. Milliseconds. */
const trustedMs = 10 * 60_000;

interface KnownToken {
  grantId: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
  /** When it has to be verified anew. */
  verifyAt: number;
}

/**
 * Lets in the holders of access tokens that an authorization server of the config has signed for this door (RFC 9068, any JWT with `iss`,
 * `aud`, `exp` and `sub`). Each is given a grant of what its scope allows, so that policy, budgets and audit are those of any agent. What
 * cannot be verified, also because the keys cannot be fetched, opens nothing.
 */
export class AccessTokens {
  readonly #auth: DoorAuth;
  readonly #keys: IssuerKeys;
  readonly #store: GrantStore;
  readonly #grants: IdentityGrants;
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #faults = new Throttle(1000);
  /** By digest: a signature is checked once. */
  readonly #known = new Map<string, KnownToken>();

  /** @throws BridgeError `bad_usage` for terms that no grant can have. */
  constructor({ auth, store, logger = silentLogger, now = Date.now }: AccessTokensOptions) {
    this.#auth = auth;
    this.#keys = new IssuerKeys(auth);
    this.#store = store;
    this.#grants = new IdentityGrants(store);
    this.#logger = logger;
    this.#now = now;
    for (const rule of auth.scopes) createGrant(termsOf(rule, { label: 'x', holder: 'x', ttlMs: 1000 }), { hash: '', now: 0 });
  }

  /** True for what looks like such a token: all others are for others to look at. */
  isMeant(authorization: string | undefined): boolean {
    return tokenIn(authorization) !== undefined;
  }

  /** Rejects with `bad_grant`; `data.reason` is `unverified` if the token may be good, but nobody can tell now. */
  async authenticate(authorization: string | undefined): Promise<Principal> {
    const token = tokenIn(authorization);
    if (token === undefined) throw refusal('malformed', 'Send an access token as `Authorization: Bearer …`.');
    const key = hash('sha256', token, 'hex');
    const before = this.#known.get(key);
    const known = before === undefined || before.verifyAt <= this.#now() ? await this.#admit(token, key) : before;
    if (known.expiresAt <= this.#now()) {
      this.#known.delete(key);
      throw refusal('expired', 'The access token has expired. Get another one from the authorization server.');
    }
    // A person may have revoked what was given for it.
    const grant = this.#store.get(known.grantId);
    if (grant === 'unverified') throw unverified(known.grantId);
    if (typeof grant === 'string') throw refusal('revoked', 'What this access token allowed was revoked.');
    return { kind: 'grant', grantId: known.grantId };
  }

  async #admit(token: string, key: string): Promise<KnownToken> {
    const claims = await this.#verify(token);
    const rule = this.#ruleOf(claims);
    const nowMs = this.#now();
    const expiresAt = (claims.exp ?? 0) * 1000;
    const ttlMs = Math.round(Math.min(longestMs, Math.max(1000, expiresAt - nowMs)));
    const digest = digestOf(claims, rule);
    const holder = `oauth ${digest}`;
    // Another token of the same holder may hold longer.
    const heldMs = largestOf(
      this.#store.ofHolder(holder).map((grant) => grant.expiresAt - nowMs),
      0,
    );
    const who = { label: labelOf(claims, digest), holder, ttlMs: Math.max(ttlMs, heldMs) };
    const { id: grantId } = await this.#grants.give(termsOf(rule, who), (claims.iat ?? 0) * 1000);
    const known = { grantId, expiresAt: nowMs + ttlMs, verifyAt: nowMs + trustedMs };
    if (this.#known.size >= maxKnown) this.#known.clear();
    this.#known.set(key, known);
    return known;
  }

  async #verify(token: string): Promise<JWTPayload> {
    const { issuer, audience } = this.#auth;
    try {
      const { jwtVerify } = await import('jose');
      const options = {
        issuer,
        audience,
        algorithms,
        requiredClaims: ['exp', 'sub'],
        clockTolerance: leewayS,
        currentDate: new Date(this.#now()),
      };
      return (await jwtVerify(token, await this.#keys.get(), options)).payload;
    } catch (error) {
      throw this.#refuse(error);
    }
  }

  #ruleOf({ scope, scp }: JWTPayload): DoorScope {
    const given = new Set(Array.isArray(scp) ? scp : String(scope ?? scp ?? '').split(' '));
    const rule = this.#auth.scopes.find((candidate) => given.has(candidate.scope));
    if (rule !== undefined) return rule;
    const known = this.#auth.scopes.map((each) => `"${each.scope}"`).join(', ');
    throw refusal('insufficient_scope', `The access token has no scope that opens anything here. Ask for one of ${known}.`);
  }

  #refuse(error: unknown): BridgeError {
    const code = isJsonObject(error) || error instanceof Error ? String((error as { code?: unknown }).code) : '';
    const isOfToken = ofToken.test(code);
    this.#faults.run(code, () => this.#logger.warn('An access token was not accepted.', { why: messageOf(error).slice(0, 300) }));
    if (code === 'ERR_JWT_EXPIRED')
      return refusal('expired', 'The access token has expired. Get another one from the authorization server.');
    if (isOfToken) return refusal('unknown', 'The access token is not for this server, or nobody whom it trusts has signed it.');
    return refusal(
      'unverified',
      'The keys of the authorization server cannot be fetched now, so no access token is accepted. Try again later.',
    );
  }
}

/** Three parts; tokens of ours have one. */
function tokenIn(authorization: string | undefined): string | undefined {
  const token = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(authorization ?? '')?.[1];
  return token !== undefined && token.length <= maxLength ? token : undefined;
}

function termsOf(
  { allow, readOnly, calls, perMinute, concurrent }: DoorScope,
  who: Pick<IdentityTerms, 'label' | 'holder' | 'ttlMs'>,
): IdentityTerms {
  return { allow, readOnly, calls, perMinute, concurrent, ...who, door: 'agent' };
}

/** Subjects are as long as an issuer likes. */
function digestOf({ iss, sub, client_id: client, azp }: JWTPayload, { scope }: DoorScope): string {
  return hash('sha256', JSON.stringify([iss, sub, client ?? azp ?? null, scope]), 'hex');
}

/** Who it is for people: as much of the name as a list can show, and nothing that could deceive there. */
function labelOf({ sub }: JWTPayload, digest: string): string {
  const name = String(sub).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?');
  return `oauth ${digest.slice(0, 24)} ${name.slice(0, 80)}`;
}

function refusal(reason: string, message: string): BridgeError {
  return new BridgeError('bad_grant', message, { data: { reason } });
}

const timeoutMs = 5000;
const maxBytes = 1024 * 1024;
/** After a failure nobody asks again for so long. Milliseconds. */
const pauseMs = 2000;

/** The public keys of an issuer, fetched when they are needed, and again when a token names another one. */
class IssuerKeys {
  readonly #auth: Pick<DoorAuth, 'issuer' | 'jwksUri'>;
  #found: Promise<JWTVerifyGetKey> | undefined;

  constructor(auth: Pick<DoorAuth, 'issuer' | 'jwksUri'>) {
    this.#auth = auth;
  }

  /** Rejects if it cannot be found out where they are. What it resolves to rejects if they cannot be fetched. */
  get(): Promise<JWTVerifyGetKey> {
    this.#found ??= this.#find().catch((error: unknown) => {
      setTimeout(() => {
        this.#found = undefined;
      }, pauseMs).unref();
      throw error;
    });
    return this.#found;
  }

  async #find(): Promise<JWTVerifyGetKey> {
    const { createRemoteJWKSet, customFetch } = await import('jose');
    const url = this.#auth.jwksUri ?? (await this.#discover());
    return createRemoteJWKSet(new URL(url), { timeoutDuration: timeoutMs, [customFetch]: fetchWhole });
  }

  /** The address of the keys in the metadata of the authorization server (RFC 8414, OpenID Connect Discovery). */
  async #discover(): Promise<string> {
    const { issuer } = this.#auth;
    let why = 'it has no metadata';
    // For all places together: agents wait meanwhile.
    const signal = AbortSignal.timeout(timeoutMs);
    for (const url of metadataUrls(issuer)) {
      const response = await fetchWhole(url, { redirect: 'error', signal, headers: { accept: 'application/json' } });
      const found = response.ok ? tryJson(await response.text()) : undefined;
      if (!isJsonObject(found)) continue;
      const { issuer: named, jwks_uri: keys } = found;
      if (named === issuer && typeof keys === 'string' && isTrusted(keys)) return keys;
      why = named === issuer ? 'its metadata name no address of keys over https' : 'its metadata name another issuer';
    }
    throw new Error(`the keys of "${issuer}" cannot be found: ${why}`);
  }
}

/** Rejects for an answer that is too large, whatever it is packed in. */
async function fetchWhole(url: string | URL, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  return new Response(await readAtMost(response, maxBytes), { status: response.status === 204 ? 200 : response.status });
}

function metadataUrls(issuer: string): URL[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const paths = [
    `/.well-known/oauth-authorization-server${path}`,
    `/.well-known/openid-configuration${path}`,
    `${path}/.well-known/openid-configuration`,
  ];
  return [...new Set(paths)].map((each) => new URL(each, origin));
}

function isTrusted(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || (protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(hostname));
}
