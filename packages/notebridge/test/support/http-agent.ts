import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { modernVersion, withEnvelope } from './agents.js';
import { initialize } from './mcp-http.js';
import type { ServedHub } from './served-hub.js';

/** What came back on a message: the status, and what the body says. */
export interface AgentReply {
  status: number;
  result?: JsonObject;
  error?: JsonObject;
}

/** Sends one message to the agents' door of a hub. A method that begins with `notifications/` is sent without an id. */
export type SendMessage = (method: string, params?: JsonObject) => Promise<AgentReply>;

/** A legacy agent. `asWhom` is asked for the token of each message, so that one session can be used with another token. `more`: headers. */
export async function openLegacyAgent(
  hub: ServedHub,
  asWhom: () => string | undefined,
  name = 'raw',
  more: Record<string, string> = {},
): Promise<SendMessage> {
  const opened = await post(hub, asWhom(), initialize(1, '2025-11-25', {}, name));
  const session = opened.headers.get('mcp-session-id') ?? 'none';
  await opened.text();
  let lastId = 1;
  return async (method, params = {}) => {
    const id = method.startsWith('notifications/') ? {} : { id: ++lastId };
    const headers = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25', ...more };
    return toReply(await post(hub, asWhom(), { jsonrpc: '2.0', ...id, method, params }, headers));
  };
}

/** A modern agent. */
export function openModernAgent(hub: ServedHub, asWhom: () => string | undefined): SendMessage {
  return async (method, params = {}) => {
    const id = method.startsWith('notifications/') ? {} : { id: 1 };
    const name = params.name ?? params.uri;
    const headers = {
      'mcp-protocol-version': modernVersion,
      'mcp-method': encode(method),
      ...(typeof name === 'string' ? { 'mcp-name': encode(name) } : {}),
    };
    return toReply(await post(hub, asWhom(), { jsonrpc: '2.0', ...id, method, params: withEnvelope(params) }, headers));
  };
}

/** A value that no header can hold is written as the specification has it. */
function encode(value: string): string {
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`;
}

function post(hub: ServedHub, token: string | undefined, message: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const accept = 'application/json, text/event-stream';
  return hub.request('/mcp', { ...(token === undefined ? {} : { token }), body: message, headers: { accept, ...headers } });
}

/** Reads to the answer; a listen, which goes on, is left after its first event. */
async function toReply(response: Response): Promise<AgentReply> {
  const { status } = response;
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return { status, ...toMembers(await response.text()) };
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { value, done } = (await reader?.read()) ?? { value: undefined, done: true };
    text += value ?? '';
    // An event without data says only from where the stream can be resumed: it comes before an answer that is slow.
    const messages = [...text.matchAll(/^data: (.+)\n\n/gm)].map(([, data]) => JSON.parse(data ?? '') as JsonObject);
    const answer = messages.find((message) => message.id !== undefined || message.method === 'notifications/subscriptions/acknowledged');
    if (answer === undefined && !done) continue;
    await reader?.cancel();
    return { status, ...(answer?.method === undefined ? toMembers(JSON.stringify(answer ?? {})) : { result: {} }) };
  }
}

function toMembers(text: string): Omit<AgentReply, 'status'> {
  const message: unknown = text === '' ? {} : JSON.parse(text);
  if (!isJsonObject(message)) return {};
  const { result, error } = message;
  return { ...(isJsonObject(result) ? { result } : {}), ...(isJsonObject(error) ? { error } : {}) };
}
