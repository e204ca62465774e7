import { printMessage } from '@notebridge/protocol/core/wire';
import type { GrantExchange } from '../../grants/grant-exchange.js';
import { type Authenticate, Authenticator } from '../http/authenticator.js';
import type { HttpApp } from '../http/http-app.js';
import type { HttpContext } from '../http/http-context.js';
import { isRefusal, refuse } from '../http/refusal.js';

const exchangePath = '/api/v1/exchange';

/** Adds the route that exchanges a token of another issuer for a grant, as a pod has one of its cluster. Call it before `listenHttp`. */
export function createExchangeDoor(app: HttpApp, exchange: GrantExchange): void {
  // It slows down token guessing. The token is checked once more when it is exchanged.
  const identify: Authenticate = async (authorization) => {
    await exchange.identify(authorization);
    return { kind: 'anonymous' };
  };
  const authenticator = new Authenticator(identify, { onRefused: app.refused });

  const handle = async (context: HttpContext): Promise<void> => {
    if (!exchange.isOpen) return context.refuse(notOpen);
    const known = await authenticator.check(context.request);
    if (isRefusal(known)) return context.refuse(known);
    const { token, id, allow, readOnly, expiresInS } = await exchange.exchange(context.request.headers.authorization);
    const answer = { token, token_type: 'Bearer', expires_in: expiresInS, grant_id: id, allow, read_only: readOnly };
    context.sendJson(200, printMessage(answer));
  };
  app.addRoute({ methods: ['POST'], path: exchangePath, handle });
}

const notOpen = refuse(404, 'No token is exchanged here: the config has no `notebridge.exchange`.');
