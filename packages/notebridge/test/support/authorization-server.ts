import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@notebridge/protocol/json';
import { bareEnvironment } from './bare-environment.js';

const file = fileURLToPath(new URL('../fixtures/authorization-server.mjs', import.meta.url));
/** The time that starting one may take: npm fetches it first. */
export const fetchTimeoutMs = 4 * 60_000;

/** A real authorization server, of the package oidc-provider, in a process of its own. */
export class AuthorizationServer implements AsyncDisposable {
  readonly issuer: string;
  readonly #stop: () => Promise<void>;

  private constructor(issuer: string, stop: () => Promise<void>) {
    this.issuer = issuer;
    this.#stop = stop;
  }

  /** It needs a newer Node than our own, so npm fetches both. */
  static async open(options: JsonObject = {}): Promise<AuthorizationServer> {
    const { npm_config_cache: cache, HOME: home = '' } = process.env;
    const env = {
      ...bareEnvironment(),
      HOME: home,
      ...(cache !== undefined && { npm_config_cache: cache }),
      npm_config_update_notifier: 'false',
    };
    const args = ['-y', '-p', 'node@24', '-p', 'oidc-provider@9', 'node', file, JSON.stringify(options)];
    const child = spawn('npx', args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
    const ended = once(child, 'close');
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const line = await Promise.race([
      once(createInterface({ input: child.stdout }), 'line').then(([text]) => String(text)),
      ended.then(() => Promise.reject(new Error(`The authorization server did not start: ${stderr}`))),
    ]);
    const { issuer } = JSON.parse(line) as { issuer: string };
    return new AuthorizationServer(issuer, async () => {
      child.stdin.end();
      await ended;
    });
  }

  /** Stopping twice is harmless. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#stop();
  }
}

/** Opens an address as a browser does, and follows it to the end, or to an address that begins with `until`. Returns each on the way. */
export async function browse(start: string, until?: string): Promise<{ ways: URL[]; status: number; text: string }> {
  const cookies = new Map<string, string>();
  const ways: URL[] = [];
  for (let url = new URL(start); ; ) {
    ways.push(url);
    if (until !== undefined && url.href.startsWith(until)) return { ways, status: 0, text: '' };
    const headers = { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') };
    const response = await fetch(url, { redirect: 'manual', headers });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    const text = await response.text();
    if (location === null) return { ways, status: response.status, text };
    if (ways.length > 15) throw new Error(`The browser is sent on and on: ${ways.join(' ')}`);
    url = new URL(location, url);
  }
}
