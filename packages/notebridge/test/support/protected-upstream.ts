import { once } from 'node:events';
import { createServer, type IncomingMessage, request as requestHttp, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '@notebridge/protocol/json';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { type HttpKind, HttpUpstream } from './http-upstream.js';

/** What the metadata of a protected server say. */
export interface Protection {
  issuer: string;
  /** Scopes that every request needs. */
  scopes?: string[];
  /** Scopes that a call of this tool needs. */
  toolScopes?: Record<string, string[]>;
  /** Over what the metadata say. */
  metadata?: JsonObject;
}

/** An MCP server of the official SDK behind a gate that lets in access tokens of one authorization server, made for this server alone. */
export class ProtectedUpstream implements AsyncDisposable {
  readonly upstream: HttpUpstream;
  /** The claims of each token that was let in, in order. */
  readonly claims: JsonObject[] = [];
  /** Every `Authorization` header that came. */
  readonly tokens: string[] = [];
  /** Tokens that are refused although they are good. */
  readonly refused = new Set<string>();
  protection: Protection;
  readonly #server;

  private constructor(upstream: HttpUpstream, protection: Protection) {
    this.upstream = upstream;
    this.protection = protection;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async open(protection: Protection, kind: Exclude<HttpKind, 'sse'> = 'sessions'): Promise<ProtectedUpstream> {
    const gate = new ProtectedUpstream(await HttpUpstream.open(kind), protection);
    gate.#server.listen(0, '127.0.0.1');
    await once(gate.#server, 'listening');
    return gate;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `${this.origin}/mcp`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { issuer, scopes = ['read'], metadata } = this.protection;
    if (request.url === '/.well-known/oauth-protected-resource/mcp') {
      const about = { resource: this.url, authorization_servers: [issuer], scopes_supported: scopes, bearer_methods_supported: ['header'] };
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ...about, ...metadata }));
    }
    if (request.url !== '/mcp') return void response.writeHead(404).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    if (token !== undefined) this.tokens.push(token);
    const payload = token === undefined || this.refused.has(token) ? undefined : await this.#verify(token);
    if (payload === undefined) return this.#challenge(response, 401, { scope: scopes.join(' ') });
    const granted = new Set(String(payload.scope).split(' '));
    const wanted = this.#scopesOf(body);
    if (!wanted.every((scope) => granted.has(scope)))
      return this.#challenge(response, 403, { error: 'insufficient_scope', scope: wanted.join(' ') });
    this.claims.push(payload);
    this.#pass(request, response, body);
  }

  #challenge(response: ServerResponse, status: number, more: Record<string, string>): void {
    const parts = { ...more, resource_metadata: `${this.origin}/.well-known/oauth-protected-resource/mcp` };
    const text = Object.entries(parts).map(([name, value]) => `${name}="${value}"`);
    response.writeHead(status, { 'www-authenticate': `Bearer ${text.join(', ')}` }).end();
  }

  async #verify(token: string): Promise<JsonObject | undefined> {
    const { issuer } = this.protection;
    const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
    return jwtVerify(token, keys, { issuer, audience: this.url }).then(
      ({ payload }) => payload,
      () => undefined,
    );
  }

  #scopesOf(body: Buffer): string[] {
    const { scopes = ['read'], toolScopes = {} } = this.protection;
    const message = body.length === 0 ? {} : (JSON.parse(body.toString()) as { params?: { name?: string } });
    return [...scopes, ...(toolScopes[message.params?.name ?? ''] ?? [])];
  }

  #pass(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const { host: _, ...headers } = request.headers;
    const further = requestHttp(this.upstream.url, { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
    });
    further.on('error', () => response.destroy());
    response.on('close', () => further.destroy());
    further.end(body);
  }
}
