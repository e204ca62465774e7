import * as legacySchemas from '@modelcontextprotocol/sdk/types.js';
import { specTypeSchemas } from '@modelcontextprotocol/server';
import { isJsonObject } from '@notebridge/protocol/json';

/** What a method is to the guard. `unknown`: it does not know it. */
export type MethodClass = 'free' | 'call' | 'list' | 'item' | 'everything' | 'unknown';

/**
 * Every method of the protocol, as a request or notification of a caller, and methods that no version has. A method that an SDK
 * knows and that is not here fails the tests: somebody has to say first what it may do.
 */
export const classOfMethod: Readonly<Record<string, MethodClass>> = {
  initialize: 'free',
  ping: 'free',
  'server/discover': 'free',
  'logging/setLevel': 'free',
  'subscriptions/listen': 'free',
  'tools/call': 'call',
  'tools/list': 'list',
  'resources/list': 'list',
  'resources/templates/list': 'list',
  'prompts/list': 'list',
  'resources/read': 'item',
  'resources/subscribe': 'item',
  'resources/unsubscribe': 'item',
  'prompts/get': 'item',
  'completion/complete': 'item',
  'notifications/initialized': 'free',
  'notifications/cancelled': 'free',
  'notifications/progress': 'everything',
  'notifications/roots/list_changed': 'everything',
  'tasks/get': 'free',
  'tasks/list': 'free',
  'tasks/result': 'free',
  'tasks/cancel': 'free',
  'tasks/update': 'free',
  // Our own requests are no tasks.
  'notifications/tasks/status': 'unknown',
  // What servers send; from a caller it means nothing.
  'roots/list': 'unknown',
  'sampling/createMessage': 'unknown',
  'elicitation/create': 'unknown',
  'notifications/message': 'unknown',
  'notifications/elicitation/complete': 'unknown',
  'notifications/prompts/list_changed': 'unknown',
  'notifications/resources/list_changed': 'unknown',
  'notifications/resources/updated': 'unknown',
  'notifications/tools/list_changed': 'unknown',
  'notifications/subscriptions/acknowledged': 'unknown',
  // Of no version.
  'tools/of_the_future': 'unknown',
  'notifications/of_the_future': 'unknown',
  ...({ constructor: 'unknown', hasOwnProperty: 'unknown' } as Record<string, MethodClass>),
  'Tools/Call': 'unknown',
  'tools/call ': 'unknown',
};

/** Every method in the schemas of the SDKs that are installed: v1 up to 2025-11-25, v2 with 2026-07-28. */
export function methodsOfSdks(): string[] {
  const schemas = [...Object.values(legacySchemas), ...Object.values(specTypeSchemas)];
  return [...new Set(schemas.flatMap(methodsOf))].sort();
}

/** The value of the literal `method` of a schema, whichever version of zod made it. */
function methodsOf(schema: unknown): string[] {
  const shape = isJsonObject(schema) ? schema.shape : undefined;
  const method = isJsonObject(shape) && isJsonObject(shape.method) ? shape.method.value : undefined;
  return typeof method === 'string' ? [method] : [];
}
