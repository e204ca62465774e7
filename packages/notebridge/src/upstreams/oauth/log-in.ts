import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import { latestLegacyVersion } from '@notebridge/protocol/core/protocol-versions';
import type { Environment } from '@notebridge/system/processes/environment';
import type { RemoteServerConfig } from '../../config/server-config.js';
import { createServerFetch } from '../server-fetch.js';
import { describeOAuthFault } from './describe-oauth-fault.js';
import { createGuardedFetch, type Fetch } from './guarded-fetch.js';
import { openLoginCallback } from './login-callback.js';
import { parseScopes } from './login-required.js';
import type { StoredLogin } from './login-store.js';
import { openLoginStore } from './logins.js';
import { OAuthClient, toClientAuthentication } from './oauth-client.js';
import { obtainTokens } from './obtain-tokens.js';

export interface LogInOptions {
  config: RemoteServerConfig;
  stateDir: string;
  /** Names the proxies of the user. */
  env: Environment;
  clientName: string;
  /** What to ask for besides what the login before has, separated by spaces. */
  scope?: string | undefined;
  /** How long the person may take. Milliseconds. */
  timeoutMs: number;
  /** Shows the person the address to open. */
  show: (url: string) => void | Promise<void>;
}

/** What a login is for, as a person may see it. */
export interface LoginView {
  issuer: string;
  /** Undefined: the authorization server named none. */
  scope: string | undefined;
  expiresAt: number | undefined;
  /** It is renewed without the person. */
  isRenewed: boolean;
}

/**
 * Logs a person in at a remote server: finds its authorization server, shows the address to open, waits for the answer on a loopback port,
 * and keeps the tokens. What was kept before stays until then. Rejects with `bad_origin`, `denied`, `timeout`, `upstream_unavailable`,
 * `bad_usage` or `write_failed`.
 */
export async function logIn(options: LogInOptions): Promise<LoginView> {
  const { config, stateDir } = options;
  const way = await createServerFetch(config, options.env);
  try {
    const store = openLoginStore(config.url, stateDir);
    const login = await obtain(options, way.fetch, store.read());
    await store.locked(() => store.save(login));
    return viewOf(login);
  } catch (error) {
    throw codeOf(error) === undefined ? toLoginFault(error, config.name) : error;
  } finally {
    await way.close();
  }
}

async function obtain(options: LogInOptions, fetch: Fetch, before: StoredLogin | undefined): Promise<Omit<StoredLogin, 'server'>> {
  const { config, clientName, timeoutMs } = options;
  let refusal: BridgeError | undefined;
  const onRefused = (error: BridgeError): void => {
    refusal ??= error;
  };
  const guarded = createGuardedFetch({ server: config.url, fetch, onRefused });
  const challenge = await askForChallenge(config, guarded).catch((error: unknown) => {
    throw codeOf(error) === undefined ? toLoginFault(error, config.name, 'the server') : error;
  });
  const { auth, computeScopeUnion } = await import('@modelcontextprotocol/client');
  const callback = await openCallback(config, { before, timeoutMs });
  try {
    const scope = computeScopeUnion(
      config.auth?.scope ?? challenge.scope,
      ...(options.scope === undefined ? [] : [before?.tokens.scope, parseScopes(options.scope).join(' ')]),
    );
    const client = new OAuthClient({ config, callback, clientName, before, scope }, await toClientAuthentication(config));
    const request = {
      serverUrl: config.url,
      fetchFn: guarded,
      ...(challenge.resourceMetadataUrl && { resourceMetadataUrl: challenge.resourceMetadataUrl }),
      ...(scope && { scope }),
    };
    await auth(client, request);
    // The SDK goes on without metadata that it could not have.
    if (refusal !== undefined) throw refusal;
    if (client.authorizationUrl === undefined) throw new BridgeError('internal', 'The login began without an address to open.');
    await options.show(client.authorizationUrl.href);
    await obtainTokens(client, { server: config.url, fetch: guarded, answer: await callback.answer });
    const login = client.toLogin();
    const granted = login.tokens.scope ?? scope;
    return { ...login, loggedInAt: Date.now(), tokens: { ...login.tokens, ...(granted !== undefined && { scope: granted }) } };
  } finally {
    await callback.close();
  }
}

/** The port of the login before, so that its registration holds; any other if it is taken. */
async function openCallback({ auth }: RemoteServerConfig, { before, timeoutMs }: { before: StoredLogin | undefined; timeoutMs: number }) {
  if (auth?.redirectPort !== undefined) return openLoginCallback({ port: auth.redirectPort, timeoutMs });
  const port = Number(before?.redirectUrl === undefined ? 0 : new URL(before.redirectUrl).port);
  return openLoginCallback({ port, timeoutMs }).catch((error: unknown) => {
    if (port === 0) throw error;
    return openLoginCallback({ port: 0, timeoutMs });
  });
}

/** What the server says to requests without a token; some let everybody in to greet them, and some refuse that alone. */
async function askForChallenge(config: RemoteServerConfig, fetch: Fetch): Promise<{ scope?: string; resourceMetadataUrl?: URL }> {
  const { extractWWWAuthenticateParams } = await import('@modelcontextprotocol/client');
  const isSse = config.transport === 'sse';
  for (const [method, params] of isSse ? [['', {}] as const] : probes) {
    const response = await fetch(config.url, {
      method: isSse ? 'GET' : 'POST',
      headers: { ...config.headers, accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
      ...(!isSse && { body: JSON.stringify({ jsonrpc: '2.0', id: 0, method, params }) }),
    });
    if (response.status !== 401) continue;
    const { scope, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
    return { ...(scope !== undefined && { scope }), ...(resourceMetadataUrl && { resourceMetadataUrl }) };
  }
  return {};
}

const clientInfo = { name: 'notebridge', version: '0' };
const probes = [
  ['tools/list', {}],
  ['initialize', { protocolVersion: latestLegacyVersion, capabilities: {}, clientInfo }],
] as const;

function viewOf({ issuer, tokens, expiresAt }: Omit<StoredLogin, 'server'>): LoginView {
  return { issuer, scope: tokens.scope, expiresAt, isRenewed: tokens.refresh_token !== undefined };
}

/** Who answered in the place of the right one, or did not follow the protocol; the words of the SDK name both issuers. */
const mismatches = new Set(['IssuerMismatchError', 'AuthorizationServerMismatchError', 'InsecureTokenEndpointError']);

function toLoginFault(error: unknown, name: string, who?: string): BridgeError {
  const isMismatch = error instanceof Error && mismatches.has(error.name);
  const code = isMismatch ? 'bad_origin' : 'upstream_unavailable';
  return new BridgeError(code, `The login at "${name}" failed: ${describeOAuthFault(error, who)}. Nothing was kept.`, { cause: error });
}
