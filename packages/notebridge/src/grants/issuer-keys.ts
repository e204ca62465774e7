import { isJsonObject } from '@notebridge/kit/json';
import type { JWTVerifyGetKey } from 'jose';
import type { DoorAuth } from '../config/door-auth.js';
import { readAtMost } from '../util/read-at-most.js';
import { tryJson } from '../util/try-json.js';

const timeoutMs = 5000;
const maxBytes = 1024 * 1024;
/** After a failure nobody asks again for so long. Milliseconds. */
const pauseMs = 2000;

/** The public keys of an issuer, fetched when they are needed, and again when a token names another one. */
export class IssuerKeys {
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
