import type { JsonObject } from '@notebridge/protocol/json';
import { describeBodies } from '../http/describe-bodies.js';
import { consoleLinkRoute, type OwnerRoute, ownerPrefix, routesByPath } from './owner-routes.js';
import { ownerSchemas } from './owner-schemas.js';

const json = (schema: JsonObject): JsonObject => ({ 'application/json': { schema } });
const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });

type DescribedRoute = OwnerRoute & { id: string };

/** The description of the owner's API for programs and people: OpenAPI 3.1. */
export function createOwnerOpenApi(version: string): JsonObject {
  const paths: [string, DescribedRoute[]][] = [...routesByPath(), [consoleLinkRoute.path, [{ ...consoleLinkRoute, id: 'newConsoleLink' }]]];
  return {
    openapi: '3.1.0',
    info: {
      title: 'Notebridge: the owner’s API',
      version,
      description:
        'How a hub is, and what its owner does with it: what `notebridge status`, `logs` and the console are made of. Send the owner’s token as bearer token; `notebridge grant --door watch` issues one that opens the routes tagged `watch`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    security: [{ owner: [] }],
    tags: [
      { name: 'owner', description: 'For the owner alone' },
      { name: 'watch', description: 'For the owner, and for grants that only watch' },
    ],
    paths: {
      ...Object.fromEntries(
        paths.map(([path, routes]) => [
          `${ownerPrefix}${path}`,
          Object.fromEntries(routes.map((route) => [route.method.toLowerCase(), describe(route)])),
        ]),
      ),
      [`${ownerPrefix}/events`]: { get: eventsOperation },
    },
    components: {
      securitySchemes: {
        owner: { type: 'http', scheme: 'bearer', description: 'The token of the owner, or of a grant that only watches.' },
      },
      schemas: describeBodies(ownerSchemas),
      responses: { Refused: { description: 'Why it was not done, and what to do next.', content: json(ref('Refusal')) } },
    },
  };
}

function describe({ id, path, summary, query = {}, body, answer, isForWatchers }: DescribedRoute): JsonObject {
  const ofPath = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const ofQuery = Object.entries(query).map(([name, part]) => ({ name, in: 'query', ...part }));
  return {
    operationId: id,
    summary,
    tags: [isForWatchers === true ? 'watch' : 'owner'],
    parameters: [...ofPath, ...ofQuery],
    ...(body === undefined ? {} : { requestBody: { required: true, content: json(ref(body)) } }),
    responses: { 200: { description: 'The answer.', content: json(ref(answer)) }, ...refusals },
  };
}

const refused: JsonObject = { $ref: '#/components/responses/Refused' };
/** What every route may answer. */
const refusals: JsonObject = { 401: refused, 403: refused, 404: refused, 409: refused, 422: refused, 429: refused, 500: refused };

const eventsOperation: JsonObject = {
  operationId: 'followEvents',
  summary: 'What changes, as server-sent events',
  description:
    '`calls` has the calls that began or ended since the last such event, at most 200 four times a second, with the totals: the schema `Calls`. Any other event names a list that is to be asked for anew.',
  tags: ['watch'],
  responses: {
    200: { description: 'A stream that does not end.', content: { 'text/event-stream': { schema: { type: 'string' } } } },
    ...refusals,
  },
};
