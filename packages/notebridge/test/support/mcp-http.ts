import { MemoryProvider, type RunnableTool } from '@notebridge/protocol/core/memory-provider';
import type { Provider } from '@notebridge/protocol/core/provider';
import { parseJson } from '@notebridge/protocol/exact-json';
import type { JsonObject } from '@notebridge/protocol/json';
import { onTestFinished } from 'vitest';
import { createHttpApp, type HttpApp, type HttpAppOptions } from '../../src/doors/http/http-app.js';
import { type HttpListener, listenHttp } from '../../src/doors/http/listen.js';
import { createMcpHttpDoor, type McpHttpDoor, type McpHttpDoorOptions } from '../../src/doors/mcp/http.js';
import { Hub } from '../../src/hub.js';
import { modernVersion, withEnvelope } from './agents.js';
import { RecorderProvider } from './recorder-provider.js';
import { createTestTools, type TestTools } from './test-tools.js';
import { authenticate, token } from './tool-proxy.js';

export interface McpHttpOptions extends Partial<McpHttpDoorOptions> {
  /** Besides those of `createTestTools`. */
  tools?: RunnableTool[];
  /** Besides the provider of those tools. */
  providers?: Provider[];
  http?: HttpAppOptions;
}

export interface OpenMcpHttp {
  hub: Hub;
  app: HttpApp;
  door: McpHttpDoor;
  listener: HttpListener;
  url: URL;
  test: TestTools;
  /** The provider of the tools, and what it was asked. */
  memory: MemoryProvider;
  recorder: RecorderProvider;
  /** Session ids that were given back, in order. */
  ended: string[];
  post(message: unknown, headers?: Record<string, string | undefined>, signal?: AbortSignal): Promise<Response>;
  /** Opens a legacy session. */
  open(headers?: Record<string, string>, capabilities?: JsonObject, version?: string): Promise<LegacySession>;
  /** Posts a modern request, with the headers that belong to it unless told otherwise. */
  ask(method: string, params?: JsonObject, more?: ModernRequest): Promise<Response>;
}

export interface ModernRequest {
  id?: unknown;
  headers?: Record<string, string | undefined>;
  signal?: AbortSignal;
}

/** A hub with the MCP door on a real port, closed when the test ends. The token is `good`. */
export async function openMcpHttp(options: McpHttpOptions = {}): Promise<OpenMcpHttp> {
  const test = createTestTools();
  const memory = new MemoryProvider({
    // SDK clients would hold the results against an output schema.
    tools: [...test.tools.map(({ outputSchema: _, ...tool }) => tool), ...(options.tools ?? [])] as RunnableTool[],
    resources: [{ uri: 'note://1', name: 'note', read: async () => [{ uri: 'note://1', text: 'one' }] }],
    prompts: [{ name: 'explain', fill: async () => [{ role: 'user', content: { type: 'text', text: 'Explain.' } }] }],
  });
  const recorder = new RecorderProvider(memory);
  const hub = new Hub({ instructions: 'For tests.' });
  for (const provider of [recorder, ...(options.providers ?? [])]) hub.addProvider(provider);
  const app = createHttpApp({ ...options.http });
  const ended: string[] = [];
  const door = createMcpHttpDoor(app, { authenticate, endSession: (id) => ended.push(id), ...options, hub });
  const listener = await listenHttp(app, { port: 0 });
  onTestFinished(async () => {
    await door.close();
    await listener.close();
    hub.close();
  });
  const url = new URL(`http://127.0.0.1:${listener.port}/mcp`);
  const post: OpenMcpHttp['post'] = (message, headers = {}, signal) =>
    fetch(url, {
      method: 'POST',
      headers: headersOf(headers),
      body: typeof message === 'string' ? message : JSON.stringify(message),
      ...(signal === undefined ? {} : { signal }),
    });
  return {
    hub,
    app,
    door,
    listener,
    url,
    test,
    memory,
    recorder,
    ended,
    post,
    open: (headers = {}, capabilities = {}, version = '2025-11-25') => LegacySession.open(url, post, headers, { capabilities, version }),
    ask: (method, params = {}, { id = 1, headers = {}, signal } = {}) => {
      const name = params.name ?? params.uri;
      const usual = {
        'mcp-protocol-version': modernVersion,
        'mcp-method': method,
        ...(name === undefined ? {} : { 'mcp-name': String(name) }),
      };
      return post({ jsonrpc: '2.0', id, method, params: withEnvelope(params) }, { ...usual, ...headers }, signal);
    },
  };
}

/** A legacy agent by hand. */
export class LegacySession {
  readonly id: string;
  readonly #url: URL;
  readonly #post: OpenMcpHttp['post'];
  readonly #headers: Record<string, string>;
  #lastId = 1;

  private constructor(url: URL, post: OpenMcpHttp['post'], headers: Record<string, string>) {
    this.#url = url;
    this.#post = post;
    this.id = headers['mcp-session-id'] ?? '';
    this.#headers = headers;
  }

  static async open(
    url: URL,
    post: OpenMcpHttp['post'],
    headers: Record<string, string>,
    { capabilities = {}, version = '2025-11-25' }: { capabilities?: JsonObject; version?: string } = {},
  ): Promise<LegacySession> {
    const response = await post(initialize(1, version, capabilities), headers);
    const id = response.headers.get('mcp-session-id');
    if (id === null) throw new Error(`No session: ${response.status} ${await response.text()}`);
    await response.text();
    const session = new LegacySession(url, post, { ...headers, 'mcp-session-id': id, 'mcp-protocol-version': version });
    await session.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return session;
  }

  /** The same session at another hub. */
  at({ url, post }: Pick<OpenMcpHttp, 'url' | 'post'>): LegacySession {
    return new LegacySession(url, post, this.#headers);
  }

  post(message: unknown, headers: Record<string, string | undefined> = {}, signal?: AbortSignal): Promise<Response> {
    return this.#post(message, { ...this.#headers, ...headers }, signal);
  }

  request(method: string, params: JsonObject = {}, id: unknown = ++this.#lastId, signal?: AbortSignal): Promise<Response> {
    return this.post({ jsonrpc: '2.0', id, method, params }, {}, signal);
  }

  call(name: string, args: JsonObject = {}, meta: JsonObject = {}, id?: unknown): Promise<Response> {
    return this.request('tools/call', { name, arguments: args, _meta: meta }, id);
  }

  /** Opens the stream of the session. */
  async listen(headers: Record<string, string> = {}): Promise<EventReader> {
    const response = await this.get(headers);
    if (response.status !== 200) throw new Error(`No stream: ${response.status}`);
    return new EventReader(response);
  }

  get(headers: Record<string, string | undefined> = {}): Promise<Response> {
    return fetch(this.#url, { headers: headersOf({ ...this.#headers, accept: 'text/event-stream', ...headers }) });
  }

  delete(headers: Record<string, string> = {}): Promise<Response> {
    return fetch(this.#url, { method: 'DELETE', headers: headersOf({ ...this.#headers, ...headers }) });
  }
}

/** Reads server-sent events as they come. */
export class EventReader {
  readonly response: Response;
  /** That of the last event that had one. */
  lastEventId: string | undefined;
  readonly #reader: ReadableStreamDefaultReader<string>;
  #text = '';

  constructor(response: Response) {
    this.response = response;
    if (response.body === null) throw new Error('There is no body.');
    this.#reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    onTestFinished(() => this.close());
  }

  /** The next message; undefined when the stream has ended. */
  async next(): Promise<JsonObject | undefined> {
    for (;;) {
      const event = await this.nextBlock();
      if (event === undefined) return undefined;
      const data = /^data: (.+)$/m.exec(event)?.[1];
      if (data !== undefined) return parseJson(data) as JsonObject;
    }
  }

  /** The next event or comment, as text. */
  async nextBlock(): Promise<string | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end >= 0) {
        const block = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        this.lastEventId = /^id: (.+)$/m.exec(block)?.[1] ?? this.lastEventId;
        return block;
      }
      const { value, done } = await this.#reader.read().catch(() => ({ value: undefined, done: true }));
      if (done) return undefined;
      this.#text += value;
    }
  }

  /** Everything until the end. */
  async rest(): Promise<JsonObject[]> {
    const messages: JsonObject[] = [];
    for (let message = await this.next(); message !== undefined; message = await this.next()) messages.push(message);
    return messages;
  }

  async close(): Promise<void> {
    await this.#reader.cancel().catch(() => {});
  }
}

/** The messages of an answer, in whatever form they came. */
export async function messagesOf(response: Response): Promise<JsonObject[]> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) return new EventReader(response).rest();
  return [parseJson(await response.text()) as JsonObject];
}

/** A promise, and the way to keep it. */
export function createSignal<Value>(): { tell: (value: Value) => void; told: Promise<Value> } {
  let tell = (_: Value): void => {};
  const told = new Promise<Value>((resolve) => {
    tell = resolve;
  });
  return { tell, told };
}

export function initialize(id: unknown = 1, protocolVersion = '2025-11-25', capabilities: JsonObject = {}, name = 'raw'): JsonObject {
  return {
    jsonrpc: '2.0',
    id,
    method: 'initialize',
    params: { protocolVersion, capabilities, clientInfo: { name, version: '1' } },
  };
}

function headersOf(headers: Record<string, string | undefined>): Record<string, string> {
  const usual = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${token}`,
  };
  return Object.fromEntries(Object.entries({ ...usual, ...headers }).filter((pair): pair is [string, string] => pair[1] !== undefined));
}
