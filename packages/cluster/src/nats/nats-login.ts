import {
  type Authenticator,
  credsAuthenticator,
  type NodeConnectionOptions,
  nkeyAuthenticator,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from '@nats-io/transport-node';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { readNamedFile } from '@notebridge/system/files/named-file';
import type { ClusterSettings } from '../cluster-settings.js';

export interface NatsLogin extends Pick<NodeConnectionOptions, 'tls' | 'authenticator'> {
  /** Each with its port. */
  servers: string[];
}

/**
 * Where NATS is and who we are there, as NATS has it. `onSecret` is told what must not be written anywhere. Throws `bad_config` for a file that
 * can't be read.
 */
export function toNatsLogin({ urls, credentials, tls }: ClusterSettings, onSecret: (secret: string) => void = () => {}): NatsLogin {
  const places = urls.map((url) => new URL(url.includes('://') ? url : `nats://${url}`));
  for (const { username, password } of places) {
    const secret = password === '' ? username : password;
    if (secret !== '') onSecret(decodeURIComponent(secret));
  }
  const authenticator = credentials === undefined ? ofUrl(places) : ofFile(credentials, onSecret);
  const usesTls = tls !== undefined || places.some(({ protocol }) => protocol === 'tls:');
  return {
    servers: [...new Set(places.map(({ host, port }) => (port === '' ? `${host}:4222` : host)))],
    ...(authenticator === undefined ? {} : { authenticator }),
    ...(usesTls ? { tls: toTls(tls ?? {}) } : {}),
  };
}

function toTls({ ca, cert, key }: NonNullable<ClusterSettings['tls']>): NonNullable<NodeConnectionOptions['tls']> {
  for (const file of [ca, cert, key]) if (file !== undefined) readCredentials(file, 'notebridge.cluster.tls');
  return { ...(ca && { caFile: ca }), ...(cert && { certFile: cert }), ...(key && { keyFile: key }) };
}

function ofUrl(places: readonly URL[]): Authenticator | undefined {
  const named = places.find(({ username }) => username !== '');
  if (named === undefined) return undefined;
  const [user, password] = [decodeURIComponent(named.username), decodeURIComponent(named.password)];
  return password === '' ? tokenAuthenticator(user) : usernamePasswordAuthenticator(user, password);
}

interface Identity {
  kind: 'creds' | 'nkey' | 'token' | 'password';
  authenticator: Authenticator;
  secrets: string[];
}

/**
 * Read again at each connection, since a mounted secret may be replaced. What was there stays good while the file can't be read, or is only
 * half written: the client gives its connection up for good if it is not told who it is.
 */
function ofFile(file: string, onSecret: (secret: string) => void): Authenticator {
  let text = readCredentials(file);
  let identity = toIdentity(text);
  identity.secrets.forEach(onSecret);
  return (nonce) => {
    try {
      const newText = readCredentials(file);
      if (newText !== text) {
        const newer = toIdentity(newText);
        if (newer.kind !== identity.kind) throw new BridgeError('bad_config', `"${file}" is of another kind than it was.`);
        newer.secrets.forEach(onSecret);
        newer.authenticator(nonce);
        text = newText;
        identity = newer;
      }
    } catch {}
    return identity.authenticator(nonce);
  };
}

function toIdentity(text: string): Identity {
  const encoder = new TextEncoder();
  if (text.includes('BEGIN NATS USER JWT')) {
    // Its last line has to end.
    const authenticator = credsAuthenticator(encoder.encode(`${text}\n`));
    return { kind: 'creds', authenticator, secrets: text.match(/^[A-Za-z0-9_.-]{40,}$/gm) ?? [] };
  }
  const seed = /^SU[A-Z2-7]{56}$/m.exec(text)?.[0];
  if (seed !== undefined) return { kind: 'nkey', authenticator: nkeyAuthenticator(encoder.encode(seed)), secrets: [seed] };
  const colon = text.indexOf(':');
  if (colon < 0) return { kind: 'token', authenticator: tokenAuthenticator(text), secrets: [text] };
  const [user, password] = [text.slice(0, colon), text.slice(colon + 1)];
  const authenticator = usernamePasswordAuthenticator(user, password);
  return { kind: 'password', authenticator, secrets: password === '' ? [] : [password] };
}

function readCredentials(file: string, key = 'notebridge.cluster.credentials'): string {
  const text = readNamedFile(file, key).trim();
  if (text !== '') return text;
  throw new BridgeError('bad_config', `"${file}", the "${key}" of the config, is empty.`);
}
