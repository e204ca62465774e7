import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';

/** One turn of the model: a text that it says, or a call of a tool. */
export type ModelTurn = string | { tool: string; input: JsonObject };

/** A request of an agent's host to a model, as far as tests look at it. */
export interface ModelRequest {
  stream?: boolean;
  model: string;
  tools?: { name: string; defer_loading?: boolean }[];
  messages: { role: string; content: string | JsonObject[] }[];
}

/** A model on loopback behind Anthropic's Messages API, which does what a script says: the hosts' own programs need one. */
export class ScriptedModel implements AsyncDisposable {
  /** The requests with tools, in order: a host also asks for titles and the like, which are answered and forgotten. */
  readonly requests: ModelRequest[] = [];
  readonly #turns: ModelTurn[];
  readonly #server: Server;

  private constructor(turns: readonly ModelTurn[]) {
    this.#turns = [...turns];
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  /** After its last turn the model says `done`. */
  static async start(turns: readonly ModelTurn[]): Promise<ScriptedModel> {
    const model = new ScriptedModel(turns);
    await new Promise<void>((resolve) => model.#server.listen(0, '127.0.0.1', resolve));
    return model;
  }

  get url(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  }

  /** The answers of tools that the model was given, in order. */
  get results(): JsonObject[] {
    const last = this.requests.at(-1)?.messages ?? [];
    return last.flatMap(({ content }) => (Array.isArray(content) ? content.filter(({ type }) => type === 'tool_result') : []));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body: unknown = JSON.parse((await text(request)) || '{}');
    if (!request.url?.startsWith('/v1/messages?') || !isJsonObject(body)) {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens":1}');
      return;
    }
    const asked = body as unknown as ModelRequest;
    const isTurn = (asked.tools ?? []).length > 0;
    if (isTurn) this.requests.push(asked);
    const turn = (isTurn ? this.#turns.shift() : 'title') ?? 'done';
    const message = {
      ...{ id: `msg_${this.requests.length}`, type: 'message', role: 'assistant', model: asked.model },
      ...{ content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } },
    };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (type: string, more: JsonObject): void =>
      void response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
    send('message_start', { message });
    const isText = typeof turn === 'string';
    const block = isText
      ? { type: 'text', text: '' }
      : { type: 'tool_use', id: `toolu_${this.requests.length}`, name: turn.tool, input: {} };
    const delta = isText ? { type: 'text_delta', text: turn } : { type: 'input_json_delta', partial_json: JSON.stringify(turn.input) };
    send('content_block_start', { index: 0, content_block: block });
    send('content_block_delta', { index: 0, delta });
    send('content_block_stop', { index: 0 });
    send('message_delta', { delta: { stop_reason: isText ? 'end_turn' : 'tool_use', stop_sequence: null }, usage: { output_tokens: 1 } });
    send('message_stop', {});
    response.end();
  }
}
