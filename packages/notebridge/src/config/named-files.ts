import type { Config } from './config.js';

/** A file whose content the config takes over, or that is written for it, and what for. */
export interface NamedFile {
  path: string;
  what: string;
}

/** Keys, certificates and credentials that a config names, and the audit. Its middleware modules are code, and no part of them. */
export function findNamedFiles({ servers, exchange, cluster, audit, telemetry }: Config): NamedFile[] {
  const ofServers = servers.flatMap((server) => {
    if (server.transport === 'stdio') return [];
    return toFiles([server.ca, server.auth?.privateKey], `a key or certificate for the server "${server.name}"`);
  });
  const ofIssuers = toFiles(
    exchange.map(({ keys }) => keys),
    'the keys of an issuer in "notebridge.exchange"',
  );
  const { credentials, key, tls } = cluster ?? {};
  const ofAudit = audit === false ? [] : toFiles([audit.file], 'the file of "notebridge.audit"');
  return [
    ...ofServers,
    ...ofIssuers,
    ...ofAudit,
    ...toFiles([telemetry.scrapeTokens], 'the folder of "notebridge.telemetry.scrapeTokens"'),
    ...toFiles([credentials, key, tls?.ca, tls?.cert, tls?.key], 'a file of "notebridge.cluster"'),
  ];
}

function toFiles(paths: readonly (string | undefined)[], what: string): NamedFile[] {
  return paths.filter((path) => path !== undefined).map((path) => ({ path, what }));
}
