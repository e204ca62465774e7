import { printMessage } from '@notebridge/protocol/core/wire';
import type { DoorAuth } from '../../config/door-auth.js';
import type { HttpApp } from '../http/http-app.js';
import type { AuthChallenge } from '../http/refusal.js';

const wellKnown = '/.well-known/oauth-protected-resource';

/**
 * Adds the documents that say which authorization server stands before the door for agents (RFC 9728), and returns what its refusals say
 * of them. Call it before `listenHttp`.
 */
export function addResourceMetadata(app: HttpApp, { issuer, audience, scopes }: DoorAuth): AuthChallenge {
  const names = scopes.map(({ scope }) => scope);
  const document = printMessage({
    resource: audience,
    authorization_servers: [issuer],
    scopes_supported: names,
    bearer_methods_supported: ['header'],
    resource_name: 'Notebridge',
  });
  for (const path of [wellKnown, `${wellKnown}/mcp`])
    app.addRoute({ methods: ['GET'], path, isHidden: true, handle: (context) => context.sendJson(200, document) });
  const { origin, pathname } = new URL(audience);
  return { metadataUrl: `${origin}${wellKnown}${pathname === '/' ? '' : pathname}`, scope: names.join(' ') };
}
