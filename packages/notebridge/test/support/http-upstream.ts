import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type NodeIncomingMessageLike, NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer as OldMcpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { ownPort } from './own-port.js';

export type HttpKind = 'sessions' | 'sse' | 'modern';

/** An MCP server over HTTP, by the official SDKs: with sessions, over the older SSE, or of the modern era only. */
export class HttpUpstream {
  /** What its tools noted, in order. */
  readonly notes: string[] = [];
  /** The headers of every request. */
  readonly headers: IncomingHttpHeaders[] = [];
  /** How many streams were opened for what belongs to no request. */
  streams = 0;
  /** Answers every request with this, while set. */
  status: number | undefined;
  readonly #kind: HttpKind;
  readonly #register: (server: McpServer) => void;
  readonly #sessions = new Map<string, (request: IncomingMessage, response: ServerResponse) => Promise<void>>();
  readonly #servers = new Set<McpServer>();
  #server: Server | undefined;
  #port = 0;

  readonly #createServer: () => McpServer;

  private constructor(
    kind: HttpKind,
    { register = () => {}, createServer }: { register?: (server: McpServer) => void; createServer?: () => McpServer },
  ) {
    this.#kind = kind;
    this.#register = register;
    this.#createServer = createServer ?? (() => this.#createNotingServer());
  }

  /** `register` adds tools to its own; it is called anew for each session, in the modern era for each request. */
  static async open(kind: HttpKind, register: (server: McpServer) => void = () => {}): Promise<HttpUpstream> {
    const upstream = new HttpUpstream(kind, { register });
    await upstream.start();
    onTestFinished(() => upstream.stop());
    return upstream;
  }

  /** One with other tools. Whoever opens it stops it. */
  static async serve(kind: Exclude<HttpKind, 'sse'>, createServer: () => McpServer): Promise<HttpUpstream> {
    const upstream = new HttpUpstream(kind, { createServer });
    await upstream.start();
    return upstream;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/mcp`;
  }

  /** Listens, on the same port as before. */
  async start(): Promise<void> {
    if (this.#port === 0) this.#port = await ownPort();
    const server = createServer((request, response) => void this.#serve(request, response));
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#server = server;
  }

  /** As if it were killed: connections break, sessions are lost. Stopping twice is harmless. */
  async stop(): Promise<void> {
    this.forget();
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
    // Clients in this process hear of it in the next turns of the loop; those in others would have heard by now.
    for (let turn = 0; turn < 3; turn++) await nextTurn();
  }

  /** Loses its sessions. */
  forget(): void {
    this.#sessions.clear();
    this.#servers.clear();
  }

  /** Tells its clients that the list of tools has changed, and changes it. */
  changeTools(): void {
    for (const server of this.#servers) server.registerTool('new', {}, async () => ({ content: [] }));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.headers.push(request.headers);
    if (request.method === 'GET') this.streams++;
    if (this.status !== undefined) {
      response.writeHead(this.status).end();
      return;
    }
    if (this.#kind === 'modern') return this.#modern(request as NodeIncomingMessageLike, response);
    const url = new URL(request.url ?? '/', 'http://localhost');
    const id = request.headers['mcp-session-id'] ?? url.searchParams.get('sessionId');
    const session = this.#sessions.get(String(id));
    if (session !== undefined) return session(request, response);
    if (id !== null && id !== undefined) response.writeHead(404).end();
    else if (this.#kind === 'sse') await this.#openSse(response);
    else await this.#openSession(request, response);
  }

  readonly #modern = toNodeHandler(createMcpHandler(() => this.#createServer(), { legacy: 'reject' }));

  async #openSession(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const transport: NodeStreamableHTTPServerTransport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.#sessions.set(id, (next, answer) => transport.handleRequest(next, answer)),
    });
    const server = this.#createServer();
    this.#servers.add(server);
    await server.connect(transport);
    await transport.handleRequest(request, response);
  }

  async #openSse(response: ServerResponse): Promise<void> {
    const server = new OldMcpServer({ name: 'http-upstream', version: '1' });
    server.tool('echo', { text: z.string() }, async ({ text }) => ({ content: [{ type: 'text', text }] }));
    const transport = new SSEServerTransport('/messages', response);
    this.#sessions.set(transport.sessionId, (request, answer) => transport.handlePostMessage(request, answer));
    await server.connect(transport);
  }

  #createNotingServer(): McpServer {
    const server = new McpServer({ name: 'http-upstream', version: '1' });
    server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, async ({ text }) => {
      this.notes.push(`echo ${text}`);
      return { content: [{ type: 'text', text }] };
    });
    server.registerTool('wait', {}, async (context) => {
      this.notes.push('wait');
      const { signal } = context.mcpReq;
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      this.notes.push('cancelled');
      return { content: [] };
    });
    server.registerTool('big', {}, async () => ({ content: [{ type: 'text', text: 'x'.repeat(20 * 1024 * 1024) }] }));
    this.#register(server);
    return server;
  }
}
