import type { JsonObject } from '@notebridge/kit/json';
import { callSchema } from './input-schemas.js';

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
export const schemas: JsonObject = {
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
