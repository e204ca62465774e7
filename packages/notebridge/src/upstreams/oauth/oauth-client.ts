import type {
  AddClientAuthentication,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { quote } from '@notebridge/protocol/util/quote';
import { readNamedFile } from '@notebridge/system/files/named-file';
import type { RemoteServerConfig, UpstreamAuth } from '../../config/server-config.js';
import { assertMayAsk, assertSecure } from './guarded-fetch.js';
import { parseScopes } from './login-required.js';
import type { StoredLogin } from './login-store.js';

export interface OAuthClientOptions {
  config: Pick<RemoteServerConfig, 'name' | 'auth' | 'url'>;
  /** Where a person comes back to, with the state that must come back too. Left out: no person is asked. */
  callback?: { redirectUrl: string; state: string } | undefined;
  /** Shown to the person by the authorization server. */
  clientName: string;
  /** The login before this one: its registration is used again, if it is for what is asked now. */
  before?: StoredLogin | undefined;
  /** What is asked for, separated by spaces. */
  scope?: string | undefined;
}

/** What the SDK's flow asks of us and tells us, kept until the flow is over: nothing is on disk before a login has succeeded. */
export class OAuthClient implements OAuthClientProvider {
  readonly addClientAuthentication?: AddClientAuthentication;
  readonly clientMetadataUrl?: string;
  readonly #options: OAuthClientOptions;
  readonly #auth: Partial<UpstreamAuth>;
  #client: StoredOAuthClientInformation | undefined;
  #discovery: OAuthDiscoveryState | undefined;
  #tokens: StoredOAuthTokens | undefined;
  #verifier = '';
  /** Where the person is to be sent. */
  authorizationUrl: URL | undefined;

  constructor(options: OAuthClientOptions, addClientAuthentication?: AddClientAuthentication) {
    const { config, before } = options;
    this.#options = options;
    this.#auth = config.auth ?? {};
    if (addClientAuthentication !== undefined) this.addClientAuthentication = addClientAuthentication;
    const { clientMetadataUrl } = this.#auth;
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl;
    if (before !== undefined && isFor(before, options)) this.#client = before.client;
  }

  get redirectUrl(): string | undefined {
    return this.#options.callback?.redirectUrl;
  }

  get clientMetadata(): OAuthClientMetadata {
    const { clientName, callback } = this.#options;
    const { scope, clientSecret } = this.#auth;
    return {
      client_name: clientName,
      redirect_uris: callback === undefined ? [] : [callback.redirectUrl],
      grant_types: callback === undefined ? ['client_credentials'] : ['authorization_code', 'refresh_token'],
      ...(callback !== undefined && { response_types: ['code'] }),
      ...(clientSecret === undefined && callback !== undefined && { token_endpoint_auth_method: 'none' }),
      ...(scope !== undefined && { scope }),
    };
  }

  state(): string {
    return this.#options.callback?.state ?? '';
  }

  /** One that is in the config is used wherever it is accepted; it is never sent to another issuer than the config names. */
  clientInformation({ issuer }: { issuer: string } = { issuer: '' }): StoredOAuthClientInformation | undefined {
    this.#assertIssuer(issuer);
    const { clientId, clientSecret } = this.#auth;
    if (clientId === undefined) return this.#client?.issuer === issuer ? this.#client : undefined;
    return { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }), issuer };
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.#client = client;
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.#tokens;
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.#tokens = tokens;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }

  saveDiscoveryState(discovery: OAuthDiscoveryState): void {
    const { authorizationServerMetadata: metadata } = discovery;
    for (const key of endpoints) {
      const endpoint = (metadata as Record<string, unknown> | undefined)?.[key];
      if (endpoint === undefined) continue;
      if (typeof endpoint !== 'string' || !URL.canParse(endpoint))
        throw new BridgeError('bad_origin', `The authorization server names ${quote(endpoint)} as "${key}", which is no URL.`);
      assertSecure(new URL(endpoint));
    }
    this.#assertIssuer(metadata?.issuer ?? discovery.authorizationServerUrl);
    this.#discovery = discovery;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  /** A browser in the own network opens it: what may not be asked may not be shown. */
  async redirectToAuthorization(url: URL): Promise<void> {
    await assertMayAsk(url, this.#options.config.url);
    this.authorizationUrl = url;
  }

  prepareTokenRequest(scope?: string): URLSearchParams | undefined {
    if (this.redirectUrl !== undefined) return undefined;
    return new URLSearchParams({ grant_type: 'client_credentials', ...(scope && { scope }) });
  }

  invalidateCredentials(what: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    if (what === 'client' || what === 'all') this.#client = undefined;
    this.#tokens = undefined;
  }

  /** What is to be kept of a flow that has succeeded. */
  toLogin(): Omit<StoredLogin, 'server'> {
    const discovery = this.#discovery;
    const issuer = discovery?.authorizationServerMetadata?.issuer ?? discovery?.authorizationServerUrl ?? '';
    const client = this.clientInformation({ issuer });
    if (discovery === undefined || client === undefined || this.#tokens === undefined)
      throw new BridgeError('internal', 'A login ended without tokens.');
    return { issuer, discovery, client, redirectUrl: this.redirectUrl, tokens: this.#tokens, expiresAt: endOf(this.#tokens) };
  }

  #assertIssuer(issuer: string): void {
    const { issuer: wanted } = this.#auth;
    if (issuer === '' || isAccepted(issuer, this.#options.config)) return;
    throw new BridgeError(
      'bad_origin',
      `"${this.#options.config.name}" names the authorization server ${quote(issuer)}, but its config accepts only ${quote(wanted)} ("auth.issuer").`,
    );
  }
}

/** Whether the config accepts this authorization server. */
export function isAccepted(issuer: string, { auth }: Pick<RemoteServerConfig, 'auth'>): boolean {
  return auth?.issuer === undefined || new URL(auth.issuer).href === new URL(issuer).href;
}

/** We registered for one address to come back to and, where the answer names them, for some scopes. */
function isFor({ redirectUrl, client }: StoredLogin, { callback, scope }: OAuthClientOptions): boolean {
  if (redirectUrl !== callback?.redirectUrl) return false;
  const { scope: registered } = client as { scope?: unknown };
  if (typeof registered !== 'string') return true;
  const known = new Set(parseScopes(registered));
  return parseScopes(scope).every((wanted) => known.has(wanted));
}

const endpoints = ['authorization_endpoint', 'token_endpoint', 'registration_endpoint', 'revocation_endpoint'] as const;

/** Milliseconds since the epoch; undefined: nobody said. */
export function endOf({ expires_in: expiresInS }: StoredOAuthTokens): number | undefined {
  return expiresInS === undefined || !Number.isFinite(expiresInS) ? undefined : Date.now() + expiresInS * 1000;
}

/** How we prove who we are with a key; undefined without one. Rejects with `bad_config`. */
export async function toClientAuthentication({ auth }: Pick<RemoteServerConfig, 'auth'>): Promise<AddClientAuthentication | undefined> {
  if (auth?.privateKey === undefined || auth.clientId === undefined) return undefined;
  const { createPrivateKeyJwtAuth } = await import('@modelcontextprotocol/client');
  return createPrivateKeyJwtAuth({
    issuer: auth.clientId,
    subject: auth.clientId,
    privateKey: readNamedFile(auth.privateKey, 'auth.privateKey'),
    alg: auth.algorithm,
  });
}
