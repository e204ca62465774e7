import { type Secret, secretsOfArgs, secretsOfHeader, secretsOfUrl, secretsOfVariable } from '@notebridge/protocol/util/secrets';
import type { ServerConfig } from '../config/server-config.js';

/** The secrets of a server's entry in the config. */
export function secretsOfServer(config: ServerConfig): Secret[] {
  const variables = Object.entries(config.variables ?? {}).flatMap(([name, value]) => secretsOfVariable(name, value));
  if (config.transport === 'stdio') {
    const named = Object.entries(config.env).flatMap(([name, value]) => secretsOfVariable(name, value));
    return [...variables, ...named, ...secretsOfArgs(config.args)];
  }
  const { headers, url, proxy = '', auth } = config;
  const ofHeaders = Object.entries(headers).flatMap(([name, value]) => secretsOfHeader(name, value));
  const login = secretsOfVariable('clientSecret', auth?.clientSecret ?? '');
  return [...variables, ...ofHeaders, ...secretsOfUrl(url), ...secretsOfUrl(proxy, 'proxy'), ...login];
}
