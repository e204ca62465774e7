import { isJsonObject } from '@notebridge/protocol/json';
import { tryJson } from '@notebridge/protocol/util/try-json';
import type { Environment } from '@notebridge/system/processes/environment';
import type { RemoteServerConfig } from '../../config/server-config.js';
import { createServerFetch } from '../server-fetch.js';
import { describeOAuthFault } from './describe-oauth-fault.js';
import { createGuardedFetch, type Fetch } from './guarded-fetch.js';
import type { StoredLogin } from './login-store.js';
import { openLoginStore } from './logins.js';
import { toClientAuthentication } from './oauth-client.js';

/**
 * What came of a log-out. `revoked`: no new token is made; `isSpent`: the last one is refused, too. `forgotten`: the authorization server may
 * go on accepting the tokens, with the reason.
 */
export type LogOutResult = { was: 'none' } | { was: 'revoked'; isSpent: boolean } | { was: 'forgotten'; why: string };

/** Forgets the login at a remote server, after the authorization server was asked to end it (RFC 7009). Rejects with `write_failed`. */
export async function logOut(config: RemoteServerConfig, { stateDir, env }: { stateDir: string; env: Environment }): Promise<LogOutResult> {
  const store = openLoginStore(config.url, stateDir);
  return store.locked(async () => {
    const login = store.read();
    if (login === undefined) return { was: 'none' };
    const result = await revoke(config, login, env);
    store.remove();
    return result;
  });
}

async function revoke(config: RemoteServerConfig, login: StoredLogin, env: Environment): Promise<LogOutResult> {
  const { revocation_endpoint: endpoint } = (login.discovery.authorizationServerMetadata ?? {}) as { revocation_endpoint?: unknown };
  if (typeof endpoint !== 'string') return { was: 'forgotten', why: 'its authorization server has no way to revoke tokens' };
  const way = await createServerFetch(config, env);
  try {
    const fetch = createGuardedFetch({ server: config.url, fetch: way.fetch });
    const { access_token: access, refresh_token: refresh } = login.tokens;
    // With it, the authorization server ends what was made of it.
    if (refresh !== undefined) await revokeToken(config, login, { endpoint, fetch, token: refresh, hint: 'refresh_token' });
    const isSpent = await revokeToken(config, login, { endpoint, fetch, token: access, hint: 'access_token' });
    if (!isSpent && refresh === undefined) return { was: 'forgotten', why: 'its authorization server does not revoke such tokens' };
    return { was: 'revoked', isSpent };
  } catch (error) {
    return { was: 'forgotten', why: describeOAuthFault(error) };
  } finally {
    await way.close();
  }
}

interface Revocation {
  endpoint: string;
  fetch: Fetch;
  token: string;
  hint: string;
}

/** False if the authorization server says that it cannot revoke this kind of token: one that is verified without asking it. */
async function revokeToken(
  config: RemoteServerConfig,
  { client, discovery }: StoredLogin,
  { endpoint, fetch, token, hint }: Revocation,
): Promise<boolean> {
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
  const body = new URLSearchParams({ token, token_type_hint: hint });
  const authenticate = await toClientAuthentication(config);
  const metadata = discovery.authorizationServerMetadata;
  if (authenticate !== undefined) await authenticate(headers, body, endpoint, metadata);
  else await addClient(headers, body, { client, methods: metadata?.token_endpoint_auth_methods_supported });
  const response = await fetch(endpoint, { method: 'POST', headers, body });
  if (response.ok) return true;
  const answer = tryJson(await response.text());
  if (isJsonObject(answer) && answer.error === 'unsupported_token_type') return false;
  throw new Error(`it answered the revocation with HTTP ${response.status}`);
}

async function addClient(
  headers: Headers,
  body: URLSearchParams,
  { client, methods = [] }: { client: StoredLogin['client']; methods?: string[] | undefined },
): Promise<void> {
  const { selectClientAuthMethod } = await import('@modelcontextprotocol/client');
  const method = selectClientAuthMethod(client, methods);
  const { client_id: id, client_secret: secret = '' } = client;
  if (method === 'client_secret_basic') {
    const pair = `${encodeURIComponent(id)}:${encodeURIComponent(secret)}`;
    headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`);
    return;
  }
  body.set('client_id', id);
  if (method === 'client_secret_post') body.set('client_secret', secret);
}
