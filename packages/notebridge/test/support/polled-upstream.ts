import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { McpServer } from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import { z } from 'zod';

export interface PolledUpstream {
  url: string;
  /** The event ids with which its streams were resumed, in order. */
  resumed: string[];
  /** How long its clients waited before each, milliseconds. */
  waits: number[];
}

/** A server by the official SDK, of 2025-11-25, that closes the stream of a call, and answers once it was resumed. */
export async function openPolledUpstream(retryMs = 20): Promise<PolledUpstream> {
  const upstream: PolledUpstream = { url: '', resumed: [], waits: [] };
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  let closedAt = 0;
  const open = async (): Promise<NodeStreamableHTTPServerTransport> => {
    const transport: NodeStreamableHTTPServerTransport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: new MemoryEvents(),
      retryInterval: retryMs,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    const server = new McpServer({ name: 'polled', version: '1' });
    const inputSchema = z.object({ closes: z.array(z.boolean()) });
    // True: with an event in between, so that there is a newer id.
    server.registerTool('polled', { inputSchema }, async ({ closes }, { http, mcpReq }) => {
      let progress = 0;
      for (const speaks of closes) {
        if (speaks)
          await mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken: mcpReq._meta?.progressToken ?? 0, progress: ++progress },
          });
        const { length } = upstream.resumed;
        closedAt = performance.now();
        // The stream that was resumed last may not be there yet to be closed.
        while (upstream.resumed.length === length) {
          http?.closeSSE?.();
          await nextTurn();
        }
      }
      return { content: [{ type: 'text', text: `closed ${closes.length} times` }] };
    });
    await server.connect(transport);
    return transport;
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const transport = sessions.get(String(request.headers['mcp-session-id'])) ?? (await open());
    const eventId = request.headers['last-event-id'];
    if (eventId !== undefined) {
      upstream.resumed.push(String(eventId));
      upstream.waits.push(performance.now() - closedAt);
    }
    await transport.handleRequest(request, response);
  };
  const listener = createServer((request, response) => void serve(request, response));
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  onTestFinished(async () => {
    listener.closeAllConnections();
    listener.close();
    await once(listener, 'close');
  });
  upstream.url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/mcp`;
  return upstream;
}

type Message = Parameters<NodeStreamableHTTPServerTransport['send']>[0];

/** All events, for ever. */
class MemoryEvents {
  readonly #events: { id: string; streamId: string; message: Message }[] = [];

  async storeEvent(streamId: string, message: Message): Promise<string> {
    const id = `${streamId}_${this.#events.length}`;
    this.#events.push({ id, streamId, message });
    return id;
  }

  async replayEventsAfter(lastId: string, { send }: { send: (id: string, message: Message) => Promise<void> }): Promise<string> {
    const at = this.#events.findIndex(({ id }) => id === lastId);
    const streamId = this.#events[at]?.streamId ?? '';
    for (const event of this.#events.slice(at + 1))
      if (event.streamId === streamId && 'jsonrpc' in event.message) await send(event.id, event.message);
    return streamId;
  }
}
