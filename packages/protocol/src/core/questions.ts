import { isJsonObject, type JsonObject } from '../json.js';
import type { Cancellation } from './cancellation.js';

/** What a server asks the agent in the middle of a call: `elicitation/create`, `sampling/createMessage` or `roots/list`. */
export interface Question {
  method: string;
  params?: JsonObject | undefined;
}

export interface QuestionOptions {
  /** Ends the question; the agent is told. */
  cancellation: Cancellation;
  /** How long the agent may take to answer. Milliseconds. */
  timeoutMs: number;
}

/** Asks the agent of a call, and gives its answer. Rejects with `RemoteError`, `cancelled`, `timeout`, or what ended the connection. */
export type Ask = (question: Question, options: QuestionOptions) => Promise<JsonObject>;

/** How the agent at the other end of a connection is asked. One for all its calls, so that a call without questions pays nothing. */
export interface Asker {
  /** What its client can be asked: see `toAskable`. */
  readonly clientCapabilities: JsonObject;
  /** Asks while the request `during` runs. Left out: it is asked by an answer to its call (`input_required`). */
  readonly ask?: ((during: string | number, question: Question, options: QuestionOptions) => Promise<JsonObject>) | undefined;
}

/** The capability of a client that each question needs. */
const capabilityOf: Record<string, string> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

const askable = Object.values(capabilityOf);

/** Requests in whose middle the caller may be asked. */
export const mayAskIn: ReadonlySet<string> = new Set(['tools/call', 'resources/read', 'prompts/get']);

/** What a server that several agents share may ask: which of them is asked, and can answer, each call shows. */
export const everyAskable = { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } } as const;

/** True for what is a question, and not some other request. */
export function isQuestion(value: unknown): value is Question {
  return isJsonObject(value) && typeof value.method === 'string' && Object.hasOwn(capabilityOf, value.method);
}

/** A request of a server as a question, without the token under which only that server knows its progress. */
export function toQuestion({ method, params }: Question): Question {
  if (params === undefined) return { method };
  if (!isJsonObject(params._meta) || params._meta.progressToken === undefined) return { method, params };
  const { progressToken: _, ...kept } = params._meta;
  const { _meta, ...rest } = params;
  return { method, params: Object.keys(kept).length > 0 ? { ...rest, _meta: kept } : rest };
}

/** True for a result of the modern era that is none yet: the caller is asked, and calls again with its answers. */
export function isInputRequired(result: JsonObject): boolean {
  return result.resultType === 'input_required';
}

/** Of the capabilities of a client those that answer questions, as it declared them. Undefined if it can be asked nothing. */
export function toAskable(capabilities: unknown): JsonObject | undefined {
  if (!isJsonObject(capabilities)) return undefined;
  let found: JsonObject | undefined;
  for (const name of askable) {
    if (!isJsonObject(capabilities[name])) continue;
    found ??= {};
    found[name] = capabilities[name];
  }
  return found;
}

/** True if a client with these capabilities can answer the question. */
export function canAnswer(capabilities: JsonObject | undefined, { method, params = {} }: Question): boolean {
  const declared = capabilities?.[capabilityOf[method] ?? ''];
  if (!isJsonObject(declared)) return false;
  switch (method) {
    case 'elicitation/create':
      if (params.mode === 'url') return isJsonObject(declared.url) && isWebUrl(params.url);
      // Before there were URLs, an empty object meant forms; it still does.
      return (params.mode ?? 'form') === 'form' && (isJsonObject(declared.form) || declared.url === undefined);
    case 'sampling/createMessage':
      return (params.tools === undefined && params.toolChoice === undefined) || isJsonObject(declared.tools);
    default:
      return true;
  }
}

/**
 * True for what a browser opens as a page of the web, and a person can read: nothing that runs, no file, no character that hides another, no
 * user name, which looks like the host.
 */
export function isWebUrl(url: unknown): boolean {
  if (typeof url !== 'string' || /[\s\p{Cc}\p{Cf}]/u.test(url) || !URL.canParse(url)) return false;
  const { protocol, username, password } = new URL(url);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

/**
 * The question with the name of the server that asks it, since all servers reach the agent through one: a person must see who wants
 * to know. Only elicitation has a text for people. Everything else, URLs above all, stays as it is.
 */
export function withAsker<Asked extends JsonObject | Question>(question: Asked, server: string): Asked {
  const { method, params } = question;
  if (method !== 'elicitation/create' || !isJsonObject(params)) return question;
  const schema = params.requestedSchema === undefined ? {} : { requestedSchema: cleanWords(params.requestedSchema) };
  return { ...question, params: { ...params, ...schema, message: nameAsker(params.message, server) } };
}

/** A text that a person is shown, with the name of the server that wrote it. */
export function nameAsker(message: unknown, server: string): string {
  return `[${server}] ${typeof message === 'string' ? cleanText(message) : ''}`;
}

/** Characters with which a text could move the cursor, erase or reorder what stands before it: all controls but tab and line feed. */
const deceiving = /(?![\n\t])\p{Cc}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

function cleanText(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(deceiving, '');
}

/** A schema whose words for people are clean; names and values are what the server knows them by. */
function cleanWords(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(cleanWords);
  if (!isJsonObject(schema)) return schema;
  const clean = (key: string, value: unknown): unknown =>
    typeof value === 'string' && (key === 'title' || key === 'description')
      ? cleanText(value)
      : key === 'enumNames' && Array.isArray(value)
        ? value.map((name) => (typeof name === 'string' ? cleanText(name) : name))
        : cleanWords(value);
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, clean(key, value)]));
}
