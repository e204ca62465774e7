import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../../core/principal.js';
import type { ToolAddress } from '../../core/tool-address.js';
import { printMessage } from '../../core/wire.js';
import type { JsonObject } from '../../util/json.js';
import { type Authenticate, Authenticator } from '../http/authenticator.js';
import { type HttpApp, sendFault } from '../http/http-app.js';
import { printRefusal, sendJson, sendRefusal } from '../http/raw-answer.js';
import { isRefusal, type Refusal, refuse } from '../http/refusal.js';
import { requestIdOf } from '../http/request-id.js';
import { CallDoor } from './call-door.js';
import { isKnownTag } from './entity-tag.js';
import { listProxyServers } from './list-proxy-servers.js';
import { createOpenApi } from './openapi.js';
import { proxyHealth, proxyReadiness } from './proxy-health.js';
import { callTarget } from './proxy-tool-call.js';
import { createProxyContext, type ToolProxy, type ToolProxyOptions } from './tool-proxy-context.js';

/** Under which all routes of the proxy stand, as in the reference. */
export const proxyPrefix = '/api/v1/mcp/proxy';

export interface ToolProxyDoorOptions extends ToolProxyOptions {
  authenticate: Authenticate;
  /** Answers the challenge of a client that checks whether this is the hub of its address file. `port`: where it was asked. */
  prove?: ((nonce: string, port: number) => string | Promise<string>) | undefined;
  /** Shown in the description of the routes. */
  version?: string | undefined;
}

const nonceFormat = /^[\w-]{16,256}$/;

/** Adds the tool proxy to an app: code in kernels calls the tools of servers, without their keys. Call it before `listenHttp`. */
export function createToolProxy(app: HttpApp, options: ToolProxyDoorOptions): ToolProxy {
  const proxy = createProxyContext(options, callTarget);
  const authenticator = new Authenticator(options.authenticate, { onRefused: app.refused });
  addCallRoutes(app, new CallDoor(app, proxy, authenticator));
  addHealthRoutes(app, options.prove);
  app.addRoutes((fastify) => {
    addListRoutes(fastify, proxy, authenticator);
    fastify.register(import('./bindings-door.js'), { under: proxyPrefix, proxy, authenticator, logger: app.logger, sendRefused });
    addDescription(fastify, options.version ?? '0');
  });
  return proxy;
}

function addListRoutes(fastify: FastifyInstance, proxy: ToolProxy, authenticator: Authenticator): void {
  fastify.get(`${proxyPrefix}/servers`, async (request, reply) => {
    const principal = await authenticator.check(request.raw);
    if (isRefusal(principal)) return sendRefused(reply, principal);
    return sendTagged(request, reply, printMessage(await listProxyServers(proxy, principal)));
  });

  fastify.get('/readyz', async (request, reply) => {
    const readiness = proxyReadiness(proxy);
    const principal = await operatorOf(request, authenticator);
    if (principal !== undefined && isRefusal(principal)) return sendRefused(reply, principal);
    reply.code(readiness.status === 'starting' ? 503 : 200);
    const isOperator = principal !== undefined && principal.kind !== 'grant';
    return isOperator ? readiness : { status: readiness.status };
  });
}

/** Asked every few seconds by whoever watches over the hub, and by commands that look for it: not worth a framework. */
function addHealthRoutes(app: HttpApp, prove: ToolProxyDoorOptions['prove']): void {
  const urls = [`${proxyPrefix}/health`, '/healthz'];
  const answer = async (request: IncomingMessage, response: ServerResponse, query: string): Promise<void> => {
    const requestId = requestIdOf(request) ?? randomUUID();
    const headers = app.headersFor(request, requestId);
    try {
      const refusal = app.rules(request);
      if (refusal !== undefined) return sendRefusal(response, refusal, headers);
      const challenge = new URLSearchParams(query).getAll('challenge');
      const health: JsonObject = await proxyHealth();
      if (challenge.length > 0 && prove !== undefined) {
        const [nonce = ''] = challenge;
        if (challenge.length > 1 || !nonceFormat.test(nonce)) return sendRefusal(response, badChallenge, headers);
        health.proof = await prove(nonce, request.socket.localPort ?? 0);
      }
      sendJson(response, 200, printMessage(health), headers);
    } catch (error) {
      sendFault(app, request, response, { error, callId: requestId });
    }
  };
  const take = (request: IncomingMessage, response: ServerResponse): boolean => {
    const [path = '', query = ''] = (request.url ?? '').split('?', 2);
    if ((request.method !== 'GET' && request.method !== 'HEAD') || !urls.includes(path)) return false;
    void answer(request, response, query);
    return true;
  };
  app.addFastRoute({ methods: ['GET', 'HEAD'], urls, take });
}

const badChallenge = refuse(400, 'A challenge is 16 to 256 letters, digits, "-" or "_".');

/** Reads the address of a call off a request target. Names are decoded once; undefined for any other path. */
function parseCallTarget(target: string): ToolAddress | undefined {
  if (!target.startsWith(serversPath)) return undefined;
  const query = target.indexOf('?');
  const path = query < 0 ? target : target.slice(0, query);
  const slash = path.indexOf('/', serversPath.length);
  const isLong = path.startsWith('/tools/', slash) && path.length > slash + '/tools/'.length;
  const toolAt = slash + (isLong ? '/tools/'.length : 1);
  if (!isLong && archivePath.test(path)) return undefined;
  if (slash <= serversPath.length || toolAt >= path.length || path.includes('/', toolAt)) return undefined;
  try {
    return { server: decodeName(path.slice(serversPath.length, slash)), tool: decodeName(path.slice(toolAt)) };
  } catch {
    return undefined;
  }
}

const serversPath = `${proxyPrefix}/`;
/** No tool of a server called "bindings": that is called by its long path. */
const archivePath = /\/bindings\/[a-z]+\.tar\.gz$/;

function decodeName(name: string): string {
  return name.includes('%') ? decodeURIComponent(name) : name;
}

function addCallRoutes(app: HttpApp, door: CallDoor): void {
  const answer = (request: IncomingMessage, response: ServerResponse): boolean => {
    const address = request.method === 'POST' ? parseCallTarget(request.url ?? '') : undefined;
    if (address === undefined) return false;
    door.answer(request, response, address);
    return true;
  };
  app.addFastRoute({ methods: ['POST'], urls: [`${proxyPrefix}/:server/tools/:tool`, `${proxyPrefix}/:server/:tool`], take: answer });
}

/** Without a token nobody is an operator, unless the hub asks for none; with one it must be right. */
async function operatorOf({ raw }: FastifyRequest, authenticator: Authenticator): Promise<Principal | Refusal | undefined> {
  const principal = await authenticator.check(raw);
  return isRefusal(principal) && raw.headers.authorization === undefined ? undefined : principal;
}

function sendRefused(reply: FastifyReply, refusal: Refusal): FastifyReply {
  const { headers = [] } = refusal;
  for (let at = 0; at + 1 < headers.length; at += 2) reply.header(headers[at] ?? '', headers[at + 1]);
  return reply.code(refusal.status).type('application/json; charset=utf-8').send(printRefusal(refusal));
}

/** Sends JSON with a tag of its content, or says that the caller has it already. */
function sendTagged(request: FastifyRequest, reply: FastifyReply, text: string): FastifyReply {
  const tag = `"${createHash('sha256').update(text).digest('base64url')}"`;
  reply.header('etag', tag).header('cache-control', 'private, no-cache').header('vary', 'authorization');
  if (isKnownTag(request.headers['if-none-match'], tag)) return reply.code(304).send();
  return reply.type('application/json; charset=utf-8').send(text);
}

/** The description of the routes, and a page that shows it. */
function addDescription(fastify: FastifyInstance, version: string): void {
  const document = createOpenApi({ version, prefix: proxyPrefix });
  const text = JSON.stringify(document);
  fastify.get('/openapi.json', (request, reply) => sendTagged(request, reply, text));
  fastify.register(import('./docs-page.js'), { document });
}
