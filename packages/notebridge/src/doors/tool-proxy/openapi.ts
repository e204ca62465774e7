import type { JsonObject } from '@notebridge/kit/json';
import { callSchema, challengeSchema, idempotencyKeySchema } from './input-schemas.js';

const ref = (kind: string, name: string): JsonObject => ({ $ref: `#/components/${kind}/${name}` });
const json = (schema: JsonObject): JsonObject => ({ 'application/json': { schema } });
const answer = (description: string, schema: string): JsonObject => ({ description, content: json(ref('schemas', schema)) });
const noToken: JsonObject[] = [];

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
      schemas,
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
        schema: idempotencyKeySchema,
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
        schema: challengeSchema,
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

const text: JsonObject = { type: 'string' };
const textOrNull: JsonObject = { type: ['string', 'null'] };
const objectOrNull: JsonObject = { type: ['object', 'null'] };
const count: JsonObject = { type: 'integer', minimum: 0 };
const truth: JsonObject = { type: 'boolean' };
const anything: JsonObject = {};
const list = (items: JsonObject): JsonObject => ({ type: 'array', items });
/** All members are always there, but for those that are named as optional. */
const object = (properties: JsonObject, optional: readonly string[] = []): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
});

const callId = { call_id: { ...text, description: 'Under which the log of the hub speaks of the call.' } };

/** The members of an answer. */
const answerMembers: JsonObject = {
  success: truth,
  result: {
    ...anything,
    description:
      'The structured content if the tool gave it (a lone `{"result": X}` becomes X); else one text that is a JSON object or array, parsed; else texts joined by newline; with any block that is no text, and without any block, the list of blocks.',
  },
  error: { ...textOrNull, description: 'Why it failed; null if it did not.' },
  is_error: { ...truth, description: 'True if the tool itself failed; false if it was not reached.' },
  content: { ...anything, description: 'The blocks as the tool gave them; left out where `result` carries all of them.' },
  structured_content: { ...anything, description: 'Left out where `result` carries it.' },
  meta: { ...objectOrNull, description: 'The `_meta` of the result.' },
  error_code: {
    ...textOrNull,
    description:
      'What kind of failure: `tool_not_found`, `timeout`, `upstream_unavailable`, `cancelled`, `result_too_large`, `denied`, `budget_exhausted`, `invalid_arguments`, or another code of the list of errors.',
  },
  error_data: { ...anything, description: 'The `data` of a protocol error of the server; left out where there is none.' },
  ...callId,
  duration_ms: { type: 'number', minimum: 0 },
};
const answerOptional = ['content', 'structured_content', 'error_data'];

const exampleAnswer = {
  success: true,
  result: { stars: 42 },
  error: null,
  is_error: false,
  meta: null,
  error_code: null,
  call_id: '8f3a1c0d9b2e-7',
  duration_ms: 12.5,
};

const event = (name: string, members: JsonObject, optional: readonly string[] = Object.keys(members)): JsonObject =>
  object({ event: { const: name }, ...members }, optional);

/** The schemas of the description of the tool proxy. */
const schemas: JsonObject = {
  ToolCallRequest: { ...callSchema, example: { arguments: { owner: 'octocat', repo: 'hello' } } },
  ToolCallResponse: { ...object(answerMembers, answerOptional), example: exampleAnswer },
  StreamEvent: {
    description:
      'One line, or the data of one server-sent event. The last one is the result; a heartbeat says only that the call still runs.',
    oneOf: [
      event('progress', { progress: { type: 'number' }, total: { type: 'number' }, message: text }),
      event('log', { level: text, logger: text, data: anything }),
      event('heartbeat', {}),
      event('result', answerMembers, answerOptional),
    ],
  },
  ServerList: object({
    servers: list(
      object({
        id: text,
        name: text,
        is_config: { ...truth, description: 'False for a server that is built in.' },
        is_running: truth,
        tools: list(
          object({ name: text, description: textOrNull, input_schema: anything, output_schema: anything, annotations: anything }),
        ),
      }),
    ),
    total: count,
  }),
  Health: object({ status: { const: 'ok' }, proof: text }, ['proof']),
  Readiness: object(
    {
      status: { enum: ['ok', 'degraded', 'starting', 'draining', 'cut_off'] },
      checks: list(object({ name: { enum: ['drain', 'boot', 'cluster', 'servers'] }, ready: { type: 'boolean' }, text })),
      servers: list(object({ name: text, status: text, since: { type: 'number' }, restarts: count, in_flight: count, reason: textOrNull })),
    },
    ['checks', 'servers'],
  ),
  Detail: object({ detail: text, error_code: text, ...callId }, ['error_code', 'call_id']),
  BodyFaults: object({
    detail: list(object({ type: text, loc: list({ type: ['string', 'integer'] }), msg: text, input: anything }, ['input'])),
  }),
};
