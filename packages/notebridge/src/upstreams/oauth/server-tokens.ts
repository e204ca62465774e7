import type { AuthProvider } from '@modelcontextprotocol/client';
import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import type { Redactor } from '@notebridge/protocol/util/redactor';
import type { RemoteServerConfig } from '../../config/server-config.js';
import { describeOAuthFault } from './describe-oauth-fault.js';
import { createGuardedFetch, type Fetch } from './guarded-fetch.js';
import { type LoginNeed, loginRequired } from './login-required.js';
import type { LoginStore, StoredLogin } from './login-store.js';
import { endOf, isAccepted, OAuthClient, toClientAuthentication } from './oauth-client.js';
import { assertUsable, discover, obtainTokens } from './obtain-tokens.js';

export interface ServerTokensOptions {
  config: RemoteServerConfig;
  store: LoginStore;
  redactor: Pick<Redactor, 'add'>;
  clientName: string;
  /** Options of the command that logs in. */
  commandOptions: readonly string[];
}

/** A token that ends so soon is renewed before it is sent. Milliseconds. */
const marginMs = 10_000;
/** Answers of an authorization server that a retry with the same token cannot change. */
const endsLogin = new Set(['invalid_grant', 'invalid_client', 'unauthorized_client', 'invalid_token', 'invalid_scope', 'access_denied']);

/**
 * The access token for calls of one server: that of the login, renewed in time, one process at a time. Never asks a person; where only one
 * can help it rejects with `login_required`.
 */
export class ServerTokens implements AuthProvider {
  readonly #options: ServerTokensOptions;
  readonly #fetch: Fetch;
  /** The token with which a request was refused: others may be on their way with an older or newer one. */
  readonly #refused = new WeakMap<Response, string>();
  #renewing: Promise<void> | undefined;

  constructor(options: ServerTokensOptions, fetch: Fetch) {
    this.#options = options;
    this.#fetch = createGuardedFetch({ server: options.config.url, fetch });
  }

  /** Called before each request. */
  async token(): Promise<string | undefined> {
    let login = this.#read();
    if (login?.expiresAt !== undefined && login.expiresAt - marginMs < Date.now() && this.#canRenew(login)) {
      await this.#renew(login.tokens.access_token, {});
      login = this.#read();
    }
    return login?.tokens.access_token;
  }

  /** A `fetch` for the server's own address that notes which token was refused. */
  noting(fetch: Fetch): Fetch {
    return async (url, init) => {
      const response = await fetch(url, init);
      if (response.status === 401) this.#refused.set(response, new Headers(init?.headers).get('authorization') ?? '');
      return response;
    };
  }

  /** The server has refused the token, or that there was none. Resolves if there is another one. */
  async onUnauthorized({ response }: { response: Response }): Promise<void> {
    const { extractWWWAuthenticateParams } = await import('@modelcontextprotocol/client');
    const { scope, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
    const refused = this.#refused.get(response)?.replace(/^Bearer /, '');
    await this.#renew(refused === '' ? undefined : refused, { scope, resourceMetadataUrl });
  }

  /** What a person is told to do. `scope`: what is missing. */
  require(need: Omit<LoginNeed, 'server' | 'options'>): BridgeError {
    return loginRequired({ ...need, server: this.#options.config.name, options: this.#options.commandOptions });
  }

  #read(): StoredLogin | undefined {
    const login = this.#options.store.read();
    if (login !== undefined) this.#hide(login);
    // The config may have been changed since: what another one has issued is not used any more.
    return login !== undefined && isAccepted(login.issuer, this.#options.config) ? login : undefined;
  }

  #hide({ tokens, client }: Pick<StoredLogin, 'tokens' | 'client'>): void {
    for (const secret of [tokens.access_token, tokens.refresh_token, tokens.id_token, client.client_secret])
      if (typeof secret === 'string') this.#options.redactor.add(secret);
  }

  #canRenew({ tokens }: StoredLogin): boolean {
    return tokens.refresh_token !== undefined || this.#isMachine;
  }

  get #isMachine(): boolean {
    return this.#options.config.auth?.grant === 'client_credentials';
  }

  /** Calls that find out together wait for one renewal. `refused`: the token that is of no use any more. */
  #renew(refused: string | undefined, challenge: Challenge): Promise<void> {
    this.#renewing ??= this.#options.store
      .locked(async () => {
        const login = this.#read();
        // Another process was quicker, or a person has logged in meanwhile.
        if (login !== undefined && login.tokens.access_token !== refused) return;
        if (this.#isMachine) return this.#logIn(challenge);
        if (login === undefined) throw this.require({ why: 'it asks for a login (HTTP 401), and nobody has logged in' });
        if (login.tokens.refresh_token === undefined) throw this.require({ why: 'the one there was has ended (HTTP 401)' });
        if (await this.#hasMoved(login, challenge))
          throw this.require({ why: 'its authorization server is another one than that of the login' });
        await this.#refresh(login, login.tokens.refresh_token);
      })
      .finally(() => {
        this.#renewing = undefined;
      });
    return this.#renewing;
  }

  /** True if the server names other authorization servers by now: what one has issued is of no use at another. */
  async #hasMoved({ discovery }: StoredLogin, { resourceMetadataUrl }: Challenge): Promise<boolean> {
    const { discoverOAuthProtectedResourceMetadata } = await import('@modelcontextprotocol/client');
    const url = resourceMetadataUrl ?? discovery.resourceMetadataUrl;
    const found = await discoverOAuthProtectedResourceMetadata(
      this.#options.config.url,
      url === undefined ? {} : { resourceMetadataUrl: url },
      this.#fetch,
    ).catch(() => undefined);
    const named = found?.authorization_servers ?? [];
    return named.length > 0 && !named.some((each) => new URL(each).href === new URL(discovery.authorizationServerUrl).href);
  }

  async #refresh(login: StoredLogin, refreshToken: string): Promise<void> {
    const { issuer, discovery, client } = login;
    try {
      const { refreshAuthorization } = await import('@modelcontextprotocol/client');
      const authenticate = await toClientAuthentication(this.#options.config);
      const tokens = await refreshAuthorization(discovery.authorizationServerUrl, {
        ...(discovery.authorizationServerMetadata && { metadata: discovery.authorizationServerMetadata }),
        clientInformation: client,
        refreshToken,
        ...(discovery.resourceMetadata && { resource: discovery.resourceMetadata.resource }),
        ...(authenticate && { addClientAuthentication: authenticate }),
        fetchFn: this.#fetch,
      });
      this.#hide({ tokens: { ...tokens, issuer }, client });
      assertUsable(tokens);
      // A server that leaves the scope out means the one before.
      const scope = tokens.scope ?? login.tokens.scope;
      const kept = { ...tokens, ...(scope !== undefined && { scope }), issuer };
      await this.#options.store.save({ ...login, tokens: kept, expiresAt: endOf(tokens) });
    } catch (error) {
      if (!isRefusal(error)) throw this.#toFault(error);
      this.#options.store.remove();
      throw this.require({ why: 'the one there was has ended, and its authorization server does not renew it', cause: error });
    }
  }

  async #logIn({ scope, resourceMetadataUrl }: Challenge): Promise<void> {
    const { config, store, clientName } = this.#options;
    const wanted = config.auth?.scope ?? scope;
    try {
      const client = new OAuthClient({ config, clientName }, await toClientAuthentication(config));
      const request = { server: config.url, fetch: this.#fetch, ...(wanted !== undefined && { scope: wanted }) };
      await discover(client, { ...request, metadataUrl: resourceMetadataUrl });
      await obtainTokens(client, request);
      const login = client.toLogin();
      this.#hide(login);
      await store.save(login);
    } catch (error) {
      throw this.#toFault(error);
    }
  }

  #toFault(error: unknown): unknown {
    if (codeOf(error) !== undefined) return error;
    const message = describeOAuthFault(error);
    const { name } = this.#options.config;
    return new BridgeError('upstream_unavailable', `"${name}" could not be called: ${message}.`, {
      data: { server: name, ran: 'no' },
      cause: error,
    });
  }
}

interface Challenge {
  scope?: string | undefined;
  resourceMetadataUrl?: URL | undefined;
}

function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'code' in error && endsLogin.has(String(error.code));
}
