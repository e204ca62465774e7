import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { JsonObject } from '../../util/json.js';

/** Everything from this server. The page sets styles by script, and its icons are data URLs. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Adds `/docs`: a page for people that shows an OpenAPI document, without anything from elsewhere. */
export default async function addDocsPage(fastify: FastifyInstance, { document }: { document: JsonObject }): Promise<void> {
  await fastify.register(swagger, { mode: 'static', specification: { document: document as never } });
  await fastify.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: contentSecurityPolicy,
    // A browser's calls are refused unless its origin was allowed, so the page offers only what it can do: to read.
    uiConfig: { supportedSubmitMethods: ['get'], deepLinking: false, validatorUrl: null, defaultModelsExpandDepth: 0 },
    theme: { title: 'Notebridge: tool proxy', css: [{ filename: 'notebridge.css', content: '.swagger-ui .topbar { display: none }' }] },
  });
}
