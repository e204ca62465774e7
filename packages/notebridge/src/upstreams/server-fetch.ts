import { rootCertificates } from 'node:tls';
import { readNamedFile } from '@notebridge/system/files/named-file';
import type { Environment } from '@notebridge/system/processes/environment';
import type { RemoteServerConfig } from '../config/server-config.js';

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** How one server is reached: its own certificates, its proxy. */
export interface ServerFetch {
  fetch: Fetch;
  /** Ends its connections. Closing twice is harmless. */
  close(): Promise<void>;
}

const proxyVariables = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];
const never = ['localhost', '127.0.0.1', '[::1]', '::1'];

/** Node's own `fetch`, unless the config or the environment wants another way. Rejects with `bad_config`. */
export async function createServerFetch(
  { url, ca, proxy }: Pick<RemoteServerConfig, 'url' | 'ca' | 'proxy'>,
  env: Environment,
): Promise<ServerFetch> {
  const isProxied = proxy === undefined && proxyVariables.some((name) => (env[name] ?? '') !== '');
  const direct = proxy === 'none' || (proxy === undefined && (!isProxied || never.includes(new URL(url).hostname)));
  if (direct && ca === undefined) return { fetch: (target, init) => fetch(target, init), close: async () => {} };

  const undici = await import('undici');
  const tls = ca === undefined ? {} : { ca: [...rootCertificates, readNamedFile(ca, 'ca')] };
  const dispatcher =
    proxy !== undefined && proxy !== 'none'
      ? new undici.ProxyAgent({ uri: proxy, requestTls: tls, proxyTls: tls })
      : direct
        ? new undici.Agent({ connect: tls })
        : new undici.EnvHttpProxyAgent({ connect: tls, requestTls: tls, ...fromEnvironment(env) });
  return {
    fetch: (target, init) => undici.fetch(target, { ...(init as object), dispatcher }) as unknown as Promise<Response>,
    close: () => dispatcher.destroy(),
  };
}

/** This machine is never asked for through another one. */
function fromEnvironment(env: Environment) {
  const of = (name: string): string => env[name.toLowerCase()] ?? env[name] ?? '';
  const noProxy = [of('NO_PROXY'), ...never].filter((host) => host !== '').join(',');
  const http = of('HTTP_PROXY');
  return { httpProxy: http, httpsProxy: of('HTTPS_PROXY') || http, noProxy };
}
