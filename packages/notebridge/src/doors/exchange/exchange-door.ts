import type { FastifyInstance } from 'fastify';
import { printMessage } from '../../core/wire.js';
import type { GrantExchange } from '../../grants/grant-exchange.js';
import { type Authenticate, Authenticator } from '../http/authenticator.js';
import type { HttpApp } from '../http/http-app.js';
import { isRefusal, refuse } from '../http/refusal.js';
import { replyRefused } from '../http/reply-refused.js';

const exchangePath = '/api/v1/exchange';

/** Adds the way to a grant for who holds a token of another issuer, as a pod does of its cluster. Call it before `listenHttp`. */
export function createExchangeDoor(app: HttpApp, exchange: GrantExchange): void {
  app.addRoutes((fastify) => addExchangeRoute(fastify, exchange, app));
}

function addExchangeRoute(fastify: FastifyInstance, exchange: GrantExchange, app: HttpApp): void {
  // It slows down who guesses. The token is looked at once more when it is exchanged.
  const identify: Authenticate = async (authorization) => {
    await exchange.identify(authorization);
    return { kind: 'anonymous' };
  };
  const authenticator = new Authenticator(identify, { onRefused: app.refused });

  fastify.post(exchangePath, async (request, reply) => {
    if (!exchange.isOpen) return replyRefused(reply, refuse(404, 'No token is exchanged here: the config has no `notebridge.exchange`.'));
    const known = await authenticator.check(request.raw);
    if (isRefusal(known)) return replyRefused(reply, known);
    const { token, id, allow, readOnly, expiresInS } = await exchange.exchange(request.headers.authorization);
    const answer = { token, token_type: 'Bearer', expires_in: expiresInS, grant_id: id, allow, read_only: readOnly };
    return reply.type('application/json; charset=utf-8').header('cache-control', 'no-store').send(printMessage(answer));
  });
}
