import type { Config } from './config.js';

/** A file whose content the config takes over, and what for. */
export interface NamedFile {
  path: string;
  what: string;
}

/** Keys, certificates and credentials that a config names. Its middleware modules are code, and no part of them. */
export function findNamedFiles({ servers, exchange, cluster }: Config): NamedFile[] {
  const ofServers = servers.flatMap((server) => {
    if (server.transport === 'stdio') return [];
    return toFiles([server.ca, server.auth?.privateKey], `a key or certificate for the server "${server.name}"`);
  });
  const ofIssuers = toFiles(
    exchange.map(({ keys }) => keys),
    'the keys of an issuer in "notebridge.exchange"',
  );
  const { credentials, key, tls } = cluster ?? {};
  return [...ofServers, ...ofIssuers, ...toFiles([credentials, key, tls?.ca, tls?.cert, tls?.key], 'a file of "notebridge.cluster"')];
}

function toFiles(paths: readonly (string | undefined)[], what: string): NamedFile[] {
  return paths.filter((path) => path !== undefined).map((path) => ({ path, what }));
}
