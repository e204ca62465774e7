import { parseJson } from '@notebridge/kit/exact-json';
import { readEvents } from '../read-events.js';
import { send } from '../session.js';
import { proxyPath } from './proxy-path.js';

/** The tool proxy's answer, of which this page reads these. */
export interface ToolAnswer {
  success: boolean;
  result: unknown;
  error: string | null;
  error_code: string | null;
  content?: unknown;
  structured_content?: unknown;
  duration_ms?: number;
}

/** What a tool says while it runs. */
export interface Said {
  event: 'progress' | 'log';
  progress?: number;
  total?: number;
  message?: string;
  level?: string;
  data?: unknown;
}

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
