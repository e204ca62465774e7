import type { JsonObject } from '@notebridge/protocol/json';
import { describeBodies } from '../http/describe-bodies.js';
import { idempotencyKey } from './call-door.js';
import { challengePattern } from './proxy-health.js';
import { proxySchemas } from './proxy-schemas.js';

const ref = (kind: string, name: string): JsonObject => ({ $ref: `#/components/${kind}/${name}` });
const json = (schema: JsonObject): JsonObject => ({ 'application/json': { schema } });
const answer = (description: string, schema: string): JsonObject => ({ description, content: json(ref('schemas', schema)) });
const noToken: JsonObject[] = [];

/** The body of a call, as the description of the routes shows it. */
const callSchema = {
  type: 'object',
  properties: { arguments: { type: 'object', description: 'The arguments of the tool.' } },
  required: ['arguments'],
};

/** What every route may answer. */
const refusals: JsonObject = {
  400: ref('responses', 'Refused'),
  403: ref('responses', 'Refused'),
  500: ref('responses', 'Fault'),
};
/** What every route that needs a token may answer. */
const guarded: JsonObject = { ...refusals, 401: ref('responses', 'Refused'), 429: ref('responses', 'ComeBack') };
/** Where a body is read, and a hub that ends begins nothing. */
const guardedPost: JsonObject = {
  ...guarded,
  413: ref('responses', 'Refused'),
  415: ref('responses', 'Refused'),
  422: ref('responses', 'WrongBody'),
  503: ref('responses', 'ComeBack'),
};

/** The description of the tool proxy for programs and people: OpenAPI 3.1. */
export function createOpenApi({ version, prefix }: { version: string; prefix: string }): JsonObject {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Notebridge: tool proxy',
      version,
      description:
        'Code in kernels calls the tools of MCP servers here, without their keys. Send a grant as bearer token: `notebridge grant` issues one.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    security: [{ grant: [] }],
    tags: [
      { name: 'tools', description: 'Call tools and look at them' },
      { name: 'health', description: 'Whether the hub can serve' },
    ],
    paths: {
      [`${prefix}/{server}/tools/{tool}`]: { post: callOperation('callTool', 'Call a tool') },
      [`${prefix}/{server}/{tool}`]: { post: callOperation('callToolShort', 'Call a tool, by the short path') },
      [`${prefix}/search`]: { post: searchOperation },
      [`${prefix}/servers`]: { get: listOperation },
      [`${prefix}/bindings/python.tar.gz`]: { get: bindingsOperation('Python') },
      [`${prefix}/bindings/typescript.tar.gz`]: { get: bindingsOperation('TypeScript') },
      [`${prefix}/health`]: { get: healthOperation('health') },
      '/healthz': { get: healthOperation('healthz') },
      '/readyz': { get: readyOperation },
    },
    components: {
      securitySchemes: { grant: { type: 'http', scheme: 'bearer', description: 'A grant, or the token of the owner.' } },
      schemas: {
        ToolCallRequest: { ...callSchema, example: { arguments: { owner: 'octocat', repo: 'hello' } } },
        ...describeBodies(proxySchemas, { isOpen: true }),
      },
      responses: {
        Refused: answer('The request is not served; the text says why.', 'Detail'),
        ComeBack: {
          ...answer('Too many calls, or too many wrong tokens.', 'Detail'),
          headers: { 'Retry-After': { schema: { type: 'string' } } },
        },
        Fault: answer('A fault of the hub. Its log says more, under the same call id.', 'Detail'),
        WrongBody: answer('The body does not have the right form.', 'BodyFaults'),
      },
    },
  };
}

function callOperation(operationId: string, summary: string): JsonObject {
  const name = (of: string): JsonObject => ({ name: of, in: 'path', required: true, schema: { type: 'string', minLength: 1 } });
  return {
    operationId,
    summary,
    tags: ['tools'],
    description:
      'Status 200 says that the hub has an answer, also where the tool failed: look at `success`. With `Accept: application/x-ndjson` or ' +
      '`text/event-stream` progress and log events come first, one object each, and the answer as the last one. Closing the connection cancels the call.',
    parameters: [
      name('server'),
      name('tool'),
      {
        name: 'Idempotency-Key',
        in: 'header',
        description: 'The same call under the same key is made once; repetitions get its answer.',
        schema: { type: 'string', pattern: idempotencyKey.source },
      },
    ],
    requestBody: { required: true, content: json(ref('schemas', 'ToolCallRequest')) },
    responses: {
      ...guardedPost,
      200: {
        description: 'The answer.',
        headers: {
          'Idempotency-Replayed': { description: 'The answer is that of an earlier call.', schema: { type: 'string', const: 'true' } },
        },
        content: {
          ...json(ref('schemas', 'ToolCallResponse')),
          'application/x-ndjson': { schema: ref('schemas', 'StreamEvent') },
          'text/event-stream': { schema: ref('schemas', 'StreamEvent') },
        },
      },
      404: ref('responses', 'Refused'),
    },
  };
}

const searchOperation: JsonObject = {
  operationId: 'searchTools',
  summary: 'Find tools by what they do',
  tags: ['tools'],
  description:
    'As `search_tools` does for agents: `arguments` has `query`, and may have `server`, `limit` (at most 50), `offset`, `read_only` and `detail`. It costs a grant no call; one caller has 16 under way at most. The body has 64 KiB at most, and an `Idempotency-Key` means nothing here.',
  requestBody: { required: true, content: json(ref('schemas', 'ToolCallRequest')) },
  responses: { ...guardedPost, 200: answer('What was found.', 'ToolCallResponse') },
};

const listOperation: JsonObject = {
  operationId: 'listServers',
  summary: 'List the servers and their tools',
  tags: ['tools'],
  parameters: [{ name: 'If-None-Match', in: 'header', schema: { type: 'string' } }],
  responses: {
    ...guarded,
    200: { ...answer('The servers that the grant may know of.', 'ServerList'), headers: { ETag: { schema: { type: 'string' } } } },
    304: { description: 'The list is the one that you have.' },
  },
};

function bindingsOperation(language: string): JsonObject {
  return {
    operationId: `bindings${language}`,
    summary: `The tools as functions in ${language}`,
    tags: ['tools'],
    description: 'A package with a function for every tool that the grant may call, as an archive with the folder `generated`.',
    parameters: [{ name: 'If-None-Match', in: 'header', schema: { type: 'string' } }],
    responses: {
      ...guarded,
      200: {
        description: 'The archive. Its tag changes when a tool does.',
        headers: { ETag: { schema: { type: 'string' } } },
        content: { 'application/gzip': {} },
      },
      304: { description: 'The package is the one that you have.' },
    },
  };
}

function healthOperation(operationId: string): JsonObject {
  return {
    operationId,
    summary: 'Whether the hub can serve',
    tags: ['health'],
    security: noToken,
    parameters: [
      {
        name: 'challenge',
        in: 'query',
        description: 'A random text. The hub that holds the key of its address file answers it with a proof.',
        schema: { type: 'string', pattern: challengePattern.source },
      },
    ],
    responses: { ...refusals, 200: answer('It can.', 'Health') },
  };
}

const readyOperation: JsonObject = {
  operationId: 'readyz',
  summary: 'How the servers fare',
  tags: ['health'],
  description: 'The owner gets the state of every server, any other caller only the status.',
  parameters: [
    {
      name: 'verbose',
      in: 'query',
      allowEmptyValue: true,
      schema: { type: 'string' },
      description: 'Each of the checks, with what it says.',
    },
  ],
  security: [{ grant: [] }, {}],
  responses: {
    ...guarded,
    200: answer('Send it calls.', 'Readiness'),
    503: answer('What starts with the hub is not there yet, the hub is draining, or it alone is cut off from its cluster.', 'Readiness'),
  },
};
