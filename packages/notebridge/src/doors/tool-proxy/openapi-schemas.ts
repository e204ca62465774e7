import type { JsonObject } from '@notebridge/kit/json';
import { callSchema } from './input-schemas.js';

const text: JsonObject = { type: 'string' };
const textOrNull: JsonObject = { type: ['string', 'null'] };
const objectOrNull: JsonObject = { type: ['object', 'null'] };
const count: JsonObject = { type: 'integer', minimum: 0 };
const truth: JsonObject = { type: 'boolean' };
const anything: JsonObject = {};

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
  ...callId,
  duration_ms: { type: 'number', minimum: 0 },
};
const answerRequired = ['success', 'result', 'error', 'is_error', 'meta', 'error_code', 'call_id', 'duration_ms'];

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

const event = (name: string, members: JsonObject, required: string[] = []): JsonObject => ({
  type: 'object',
  properties: { event: { const: name }, ...members },
  required: ['event', ...required],
});

/** The schemas of the description of the tool proxy. */
export const schemas: JsonObject = {
  ToolCallRequest: { ...callSchema, example: { arguments: { owner: 'octocat', repo: 'hello' } } },
  ToolCallResponse: { type: 'object', properties: answerMembers, required: answerRequired, example: exampleAnswer },
  StreamEvent: {
    description:
      'One line, or the data of one server-sent event. The last one is the result; a heartbeat says only that the call still runs.',
    oneOf: [
      event('progress', { progress: { type: 'number' }, total: { type: 'number' }, message: text }),
      event('log', { level: text, logger: text, data: anything }),
      event('heartbeat', {}),
      event('result', answerMembers, answerRequired),
    ],
  },
  ServerList: {
    type: 'object',
    properties: {
      servers: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            id: text,
            name: text,
            is_config: { ...truth, description: 'False for a server that is built in.' },
            is_running: truth,
            tools: {
              type: 'array',
              items: {
                type: 'object',
                properties: {
                  name: text,
                  description: textOrNull,
                  input_schema: anything,
                  output_schema: anything,
                  annotations: anything,
                },
                required: ['name', 'description', 'input_schema', 'output_schema', 'annotations'],
              },
            },
          },
          required: ['id', 'name', 'is_config', 'is_running', 'tools'],
        },
      },
      total: count,
    },
    required: ['servers', 'total'],
  },
  Health: { type: 'object', properties: { status: { const: 'ok' }, proof: text }, required: ['status'] },
  Readiness: {
    type: 'object',
    properties: {
      status: { enum: ['ok', 'degraded', 'starting'] },
      servers: {
        type: 'array',
        items: {
          type: 'object',
          properties: { name: text, status: text, since: { type: 'number' }, restarts: count, in_flight: count, reason: textOrNull },
          required: ['name', 'status', 'since', 'restarts', 'in_flight', 'reason'],
        },
      },
    },
    required: ['status'],
  },
  Detail: {
    type: 'object',
    properties: { detail: text, error_code: text, ...callId },
    required: ['detail'],
  },
  BodyFaults: {
    type: 'object',
    properties: {
      detail: {
        type: 'array',
        items: {
          type: 'object',
          properties: { type: text, loc: { type: 'array', items: { type: ['string', 'integer'] } }, msg: text, input: anything },
          required: ['type', 'loc', 'msg'],
        },
      },
    },
    required: ['detail'],
  },
};
