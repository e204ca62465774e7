import type { OAuthTokens } from '@modelcontextprotocol/client';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Fetch } from './guarded-fetch.js';
import type { OAuthClient } from './oauth-client.js';

export interface TokenRequest {
  /** The URL of the MCP server. */
  server: string;
  fetch: Fetch;
  /** What came back from a login; left out, a machine says who it is by its secret or key. */
  answer?: { code: string; iss: string | undefined } | undefined;
  scope?: string | undefined;
}

/** What the client has to know about both servers, where no person's login has found it out. */
export async function discover(client: OAuthClient, { server, fetch, metadataUrl }: TokenRequest & { metadataUrl: URL | undefined }) {
  const { discoverOAuthServerInfo } = await import('@modelcontextprotocol/client');
  const found = await discoverOAuthServerInfo(server, { fetchFn: fetch, ...(metadataUrl && { resourceMetadataUrl: metadataUrl }) });
  client.saveDiscoveryState(found);
}

/**
 * One request to the token endpoint, after `iss` was checked. Not the SDK's whole flow: after a refusal that begins anew, and prints on
 * the terminal what the authorization server wrote.
 */
export async function obtainTokens(client: OAuthClient, { server, fetch, answer, scope }: TokenRequest): Promise<void> {
  const { fetchToken, selectResourceURL } = await import('@modelcontextprotocol/client');
  const found = client.discoveryState();
  if (found === undefined) throw new Error('nothing is known about it');
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = found;
  await selectResourceURL(server, client, resourceMetadata);
  const tokens = await fetchToken(client, authorizationServerUrl, {
    ...(metadata && { metadata }),
    ...(resourceMetadata && { resource: resourceMetadata.resource }),
    ...(answer && { authorizationCode: answer.code, ...(answer.iss !== undefined && { iss: answer.iss }) }),
    ...(scope !== undefined && { scope }),
    fetchFn: fetch,
  });
  assertUsable(tokens);
  client.saveTokens({ ...tokens, issuer: metadata?.issuer ?? authorizationServerUrl });
}

/** What RFC 6749 allows, but for the space, which would make two words of it. */
const accessToken = /^[\x21-\x7e]+$/;

/** @throws BridgeError `upstream_unavailable` for a token that cannot stand in a header: who tried would be told by an error that quotes it. */
export function assertUsable({ access_token: token }: OAuthTokens): void {
  if (accessToken.test(token)) return;
  throw new BridgeError(
    'upstream_unavailable',
    'Its authorization server gives an access token that no request can carry. It was not kept.',
  );
}
