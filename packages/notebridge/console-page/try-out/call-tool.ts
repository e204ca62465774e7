import { parseJson } from '@notebridge/protocol/exact-json';
import type { ProxyBody } from '../../src/doors/tool-proxy/proxy-schemas.js';
import { readEvents } from '../read-events.js';
import { send } from '../session.js';
import { proxyPath } from './proxy-path.js';

export type ToolAnswer = ProxyBody<'ToolCallResponse'>;

/** An event that a tool sends while it runs. */
export type Said = Extract<ProxyBody<'StreamEvent'>, { event: 'progress' | 'log' }>;

export interface ToolCallOptions {
  server: string;
  tool: string;
  /** The arguments as JSON; sent as they are. */
  json: string;
  /** Its abort closes the connection, by which the call is cancelled at its server. */
  signal: AbortSignal;
  onSaid: (said: Said) => void;
}

/** Calls a tool as the owner. Rejects with `HubFault` where the hub refuses. */
export async function callTool({ server, tool, json, signal, onSaid }: ToolCallOptions): Promise<ToolAnswer> {
  // A person has pressed the button: no second person is asked.
  const headers = { accept: 'text/event-stream', 'notebridge-typed': 'true' };
  const response = await send(proxyPath(server, tool), { method: 'POST', headers, body: `{"arguments":${json}}`, signal });
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return parseJson(await response.text()) as ToolAnswer;
  for await (const { event, data } of readEvents(response)) {
    if (event === 'result') return parseJson(data) as ToolAnswer;
    if (event === 'progress' || event === 'log') onSaid(parseJson(data) as Said);
  }
  throw new Error('The hub ended the connection before the call was answered.');
}
