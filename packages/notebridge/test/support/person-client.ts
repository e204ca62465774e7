import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { browse } from './authorization-server.js';

/** A client of the official SDK with a person who opens the address that it is sent to, and comes back. Registers itself. */
export class PersonClient implements OAuthClientProvider {
  readonly redirectUrl = 'http://127.0.0.1:9/callback';
  came: URLSearchParams | undefined;
  readonly #scope: string | undefined;
  #client: StoredOAuthClientInformation | undefined;
  #tokens: StoredOAuthTokens | undefined;
  #discovery: OAuthDiscoveryState | undefined;
  #verifier = '';

  constructor(scope?: string) {
    this.#scope = scope;
  }

  get clientMetadata(): OAuthClientMetadata {
    const scope = this.#scope === undefined ? {} : { scope: this.#scope };
    return { client_name: 'a person', redirect_uris: [this.redirectUrl], token_endpoint_auth_method: 'none', ...scope };
  }

  clientInformation = () => this.#client;
  tokens = () => this.#tokens;
  discoveryState = () => this.#discovery;
  codeVerifier = () => this.#verifier;

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.#client = client;
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.#tokens = tokens;
  }

  saveDiscoveryState(discovery: OAuthDiscoveryState): void {
    this.#discovery = discovery;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  /** Nothing listens at the address to come back to: what matters is in it. */
  async redirectToAuthorization(url: URL): Promise<void> {
    const seen = await browse(url.href, this.redirectUrl);
    this.came = seen.ways.at(-1)?.searchParams;
  }
}
