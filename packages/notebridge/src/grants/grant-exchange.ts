import { hash } from 'node:crypto';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { ExchangeRule } from '../config/exchange-rule.js';
import { createGrant } from './grant.js';
import type { GrantStore, IssuedGrant } from './grant-store.js';
import { IdentityGrants, type IdentityTerms } from './identity-grants.js';
import { findTokenFault, readSignedToken, type SignedToken } from './signed-token.js';

export interface GrantExchangeOptions {
  store: GrantStore;
  rules: readonly ExchangeRule[];
  /** The text of a file of keys. Asked for each exchange: a cluster changes its keys. */
  readKeys: (path: string) => Promise<string>;
  logger?: Logger;
  /** Milliseconds since the epoch. Default: the clock. */
  now?: () => number;
}

export type ExchangedGrant = IssuedGrant & { expiresInS: number };

/** An identity that another issuer vouches for. */
interface Identity {
  rule: ExchangeRule;
  /** Who it is, for people. */
  label: string;
  /** Who it is, also after a restart of the hub. */
  holder: string;
  issuedAtMs: number;
}

/**
 * Gives a grant for the token of another issuer: a pod shows the service account token that its cluster signed for us. One identity (a
 * pod, if the token names one) has one grant: one that comes again has its token renewed, and the budget stays as it was.
 */
export class GrantExchange {
  readonly #grants: IdentityGrants;
  readonly #readKeys: (path: string) => Promise<string>;
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #rules: readonly ExchangeRule[];

  /** @throws BridgeError `bad_usage` for terms that no grant can have. */
  constructor({ store, rules, readKeys, logger = silentLogger, now = Date.now }: GrantExchangeOptions) {
    this.#grants = new IdentityGrants(store);
    this.#readKeys = readKeys;
    this.#logger = logger;
    this.#now = now;
    this.#rules = rules;
    for (const rule of rules) createGrant(termsOf(rule, { label: labelOf({ sub: rule.subject }), holder: '' }), { hash: '', now: 0 });
  }

  /** False if no token is accepted. */
  get isOpen(): boolean {
    return this.#rules.length > 0;
  }

  /** Rejects with `bad_grant` for what is no token that a rule is for. What exactly is wrong stands in the log alone. */
  async identify(authorization: string | undefined): Promise<Identity> {
    if (authorization === undefined) throw refused('missing', 'This needs a token of an issuer that the config names under `exchange`.');
    const token = await readSignedToken(/^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? '');
    if (token === undefined) throw refused('malformed', 'Send a signed token (a JWT, RS256 or ES256) as `Authorization: Bearer …`.');
    const rule = this.#rules.find((candidate) => isMeant(candidate, token.claims));
    if (rule === undefined) throw this.#refuse('no rule has its issuer, audience and subject', token);
    const fault = await findTokenFault(token, { keySet: await this.#keysOf(rule), nowMs: this.#now() });
    if (fault !== undefined) {
      const refusal = this.#refuse(fault.why, token);
      if (fault.reason === 'unknown') throw refusal;
      throw refused('expired', 'The token has expired, or is not valid yet. Read its file again: a projected token is renewed there.');
    }
    const { claims } = token;
    return { rule, label: labelOf(claims), holder: holderOf(claims), issuedAtMs: Number(claims.iat) * 1000 };
  }

  /** Rejects as `identify` does, or as `GrantStore.issue` does. */
  async exchange(authorization: string | undefined): Promise<ExchangedGrant> {
    const { rule, issuedAtMs, ...who } = await this.identify(authorization);
    const grant = await this.#grants.give(termsOf(rule, who), issuedAtMs);
    return { ...grant, expiresInS: Math.floor((grant.expiresAt - this.#now()) / 1000) };
  }

  async #keysOf({ keys }: ExchangeRule): Promise<unknown> {
    try {
      return JSON.parse(await this.#readKeys(keys));
    } catch (error) {
      this.#logger.error(`No token can be exchanged: the keys in "${keys}" cannot be read (${messageOf(error)}).`);
      return undefined;
    }
  }

  #refuse(why: string, { claims: { iss, aud, sub }, keyId }: SignedToken): BridgeError {
    const asText = (value: unknown): string => (JSON.stringify(value) ?? 'none').slice(0, 300);
    this.#logger.warn('A token was not exchanged.', { why, iss: asText(iss), aud: asText(aud), sub: asText(sub), kid: asText(keyId) });
    return refused('unknown', 'This token is not exchanged here. The log of the hub says why; the rules are `exchange` of its config.');
  }
}

function isMeant({ issuer, audience, subject }: ExchangeRule, { iss, aud, sub }: JsonObject): boolean {
  return iss === issuer && sub === subject && (Array.isArray(aud) ? aud.includes(audience) : aud === audience);
}

function termsOf(
  { allow, readOnly, ttlMs, calls, perMinute, concurrent }: ExchangeRule,
  { label, holder }: Pick<Identity, 'label' | 'holder'>,
): IdentityTerms {
  return { allow, readOnly, ttlMs, calls, perMinute, concurrent, door: 'tools', label, holder };
}

/** The subject is as long as the config has it; a pod's id distinguishes pods of one service account. */
function labelOf(claims: JsonObject): string {
  const id = podOf(claims);
  return `${String(claims.sub).slice(0, 100)}${id === undefined ? '' : ` pod ${id}`}`;
}

function holderOf(claims: JsonObject): string {
  return `exchange ${hash('sha256', JSON.stringify([claims.iss, claims.sub, podOf(claims) ?? null]), 'hex')}`;
}

function podOf({ 'kubernetes.io': kubernetes }: JsonObject): string | undefined {
  const pod = isJsonObject(kubernetes) && isJsonObject(kubernetes.pod) ? kubernetes.pod : {};
  return typeof pod.uid === 'string' && /^[\w-]{1,64}$/.test(pod.uid) ? pod.uid : undefined;
}

function refused(reason: string, message: string): BridgeError {
  return new BridgeError('bad_grant', message, { data: { reason } });
}
