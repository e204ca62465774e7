import type { ServerConfig } from '../core/server-config.js';

/**
 * Every value of `env` and `headers` may be a key, of `Bearer KEY` the key alone as well; so may what a URL carries besides its
 * path. Short ones are let through by the redactor.
 */
export function addSecrets(redactor: { add(secret: string): void }, config: ServerConfig): void {
  for (const value of valuesOf(config)) {
    redactor.add(value);
    const key = /^\S+\s+(\S.*)$/.exec(value)?.[1];
    if (key !== undefined) redactor.add(key);
  }
}

function valuesOf(config: ServerConfig): string[] {
  if (config.transport === 'stdio') return Object.values(config.env);
  const headers = [...Object.values(config.headers), config.auth?.clientSecret ?? '', passwordIn(config.proxy)];
  if (!URL.canParse(config.url)) return headers;
  const { password, searchParams } = new URL(config.url);
  return [...headers, password, ...searchParams.values()];
}

function passwordIn(url = ''): string {
  return URL.canParse(url) ? new URL(url).password : '';
}
