import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '@notebridge/protocol/json';
import { onTestFinished } from 'vitest';

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export interface Lies {
  resource?: JsonObject | Answer;
  /** Over what the metadata of the authorization server say. */
  issuer?: JsonObject;
  token?: Answer;
  /** What the server itself answers. Default: that it wants a login. */
  mcp?: Answer;
}

export type Answers = (origin: string) => Record<string, JsonObject | Answer>;

/** As `startAnswering`, for one test. */
export async function openAnswering(answers: Answers) {
  const server = await startAnswering(answers);
  onTestFinished(server.close);
  return server;
}

/** A server that answers each path as it is told, and notes what was asked. */
export async function startAnswering(answers: Answers) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://x').pathname;
    asked.push(`${request.method} ${path}`);
    const answer = answers(origin)[path];
    if (typeof answer === 'function') return answer(request, response);
    if (answer === undefined) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { origin, asked, close };
}

/** An MCP server and its authorization server on one port, which are in order but for these lies. */
export function openLiar(lies: Lies = {}) {
  return openAnswering((own) => ({
    '/mcp':
      lies.mcp ??
      ((_, response) =>
        response
          .writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${own}/.well-known/oauth-protected-resource/mcp"` })
          .end()),
    '/.well-known/oauth-protected-resource/mcp':
      typeof lies.resource === 'function' ? lies.resource : { resource: `${own}/mcp`, authorization_servers: [own], ...lies.resource },
    '/.well-known/oauth-authorization-server': {
      issuer: own,
      authorization_endpoint: `${own}/authorize`,
      token_endpoint: `${own}/token`,
      registration_endpoint: `${own}/register`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      ...lies.issuer,
    },
    '/register': (request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        const client = { ...(JSON.parse(body) as JsonObject), client_id: 'c' };
        response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(client));
      });
    },
    '/token':
      lies.token ??
      ((_, response) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ access_token: 'good', token_type: 'Bearer' }))),
  }));
}
