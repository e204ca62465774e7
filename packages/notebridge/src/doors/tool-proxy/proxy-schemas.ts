import * as z from 'zod';

/*
 * The bodies of the tool proxy, but for that of a call, which is checked at every call (`parseCallBody`). Import types alone, unless they are
 * described: a start must not pay for the library.
 */

const text = z.string();
const count = z.int().min(0);
const callId = text.describe('Under which the log of the hub speaks of the call.');

const answer = z.object({
  success: z.boolean(),
  result: z
    .unknown()
    .describe(
      'The structured content if the tool gave it (a lone `{"result": X}` becomes X); else one text that is a JSON object or array, parsed; else texts joined by newline; with any block that is no text, and without any block, the list of blocks.',
    ),
  error: text.nullable().describe('Why it failed; null if it did not.'),
  is_error: z.boolean().describe('True if the tool itself failed; false if it was not reached.'),
  content: z.unknown().describe('The blocks as the tool gave them; left out where `result` carries all of them.').optional(),
  structured_content: z.unknown().describe('Left out where `result` carries it.').optional(),
  meta: z.record(text, z.unknown()).nullable().describe('The `_meta` of the result.'),
  error_code: text
    .nullable()
    .describe(
      'What kind of failure: `tool_not_found`, `timeout`, `upstream_unavailable`, `cancelled`, `result_too_large`, `denied`, `budget_exhausted`, `invalid_arguments`, or another code of the list of errors.',
    ),
  error_data: z.unknown().describe('The `data` of a protocol error of the server; left out where there is none.').optional(),
  call_id: callId,
  duration_ms: z.number().min(0),
});

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

const progress = z.object({
  event: z.literal('progress'),
  progress: z.number().optional(),
  total: z.number().optional(),
  message: text.optional(),
});
const log = z.object({ event: z.literal('log'), level: text.optional(), logger: text.optional(), data: z.unknown().optional() });

const tool = z.object({
  name: text,
  description: text.nullable(),
  input_schema: z.unknown(),
  output_schema: z.unknown(),
  annotations: z.unknown(),
});
const server = z.object({
  id: text,
  name: text,
  is_config: z.boolean().describe('False for a server that is built in.'),
  is_running: z.boolean(),
  tools: z.array(tool),
});
const state = z.object({
  name: text,
  status: text,
  since: z.number(),
  restarts: count,
  in_flight: count,
  reason: text.nullable(),
});
const check = z.object({ name: z.enum(['drain', 'boot', 'cluster', 'servers']), ready: z.boolean(), text });
const fault = z.object({ type: text, loc: z.array(z.union([text, z.int()])), msg: text, input: z.unknown().optional() });

export const proxySchemas = {
  ToolCallResponse: answer.meta({ example: exampleAnswer }),
  StreamEvent: z
    .discriminatedUnion('event', [
      progress,
      log,
      z.object({ event: z.literal('heartbeat') }),
      z.object({ event: z.literal('result'), ...answer.shape }),
    ])
    .describe(
      'One line, or the data of one server-sent event. The last one is the result; a heartbeat says only that the call still runs.',
    ),
  ServerList: z.object({ servers: z.array(server), total: count }),
  Health: z.object({ status: z.literal('ok'), proof: text.optional() }),
  Readiness: z.object({
    status: z.enum(['ok', 'degraded', 'starting', 'draining', 'cut_off']),
    checks: z.array(check).optional(),
    servers: z.array(state).optional(),
  }),
  Detail: z.object({ detail: text, error_code: text.optional(), call_id: callId.optional() }),
  BodyFaults: z.object({ detail: z.array(fault) }),
};

/** A body of the tool proxy, by the name of its schema. */
export type ProxyBody<Name extends keyof typeof proxySchemas> = z.infer<(typeof proxySchemas)[Name]>;
