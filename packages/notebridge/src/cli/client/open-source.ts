import type { JsonObject } from '@notebridge/protocol/json';
import type { OwnerBody } from '../../doors/owner/owner-schemas.js';
import { typedHeader } from '../../doors/tool-proxy/call-door.js';
import type { ToolCallResponse } from '../../doors/tool-proxy/to-answer.js';
import { askHub, askOwner, streamFromHub } from '../hub/hub-request.js';
import { findHub, type OwnHub } from '../hub/own-hub.js';
import type { ToolEvent, ToolSource } from './tool-source.js';

export interface SourceOptions {
  /** A config to start here, whatever hub runs. */
  config?: string;
  /** Leave a running hub alone. */
  standalone?: boolean;
}

/** The running hub, or else the servers of the config in this process. Rejects with `bad_config`. */
async function openSource({ config, standalone = false }: SourceOptions): Promise<ToolSource> {
  const asksHub = config === undefined && !standalone;
  const found = asksHub ? await findHub() : undefined;
  if (found !== undefined) return createHubSource(found);
  // Loaded only now: a command that talks to a hub needs none of it.
  const { createOwnSource } = await import('./own-source.js');
  return createOwnSource(config, asksHub);
}

/** Uses a source and closes it, whatever happens. */
export async function withSource<Result>(options: SourceOptions, work: (source: ToolSource) => Promise<Result>): Promise<Result> {
  const source = await openSource(options);
  try {
    return await work(source);
  } finally {
    await source.close();
  }
}

/** A hub may start a server to answer. Milliseconds. */
const startMs = 120_000;

/** The servers of the running hub, as its owner. */
function createHubSource(hub: OwnHub): ToolSource {
  const describe = async () => (await askOwner<'HubReport'>(hub, '/servers')) as Partial<OwnerBody<'HubReport'>>;
  return {
    hub: hub.url,
    servers: async () => (await describe()).servers ?? [],
    // One of an older version says nothing of it.
    policy: async () => (await describe()).policy ?? { code_mode: false, approvals: false, owner_can_approve: true },
    server: (name) => askOwner<'Server'>(hub, `/servers/${encodeURIComponent(name)}`, { timeoutMs: startMs }),
    call: async ({ server, tool }, args, { signal, isTyped, onEvent }) => {
      const path = `/api/v1/mcp/proxy/${encodeURIComponent(server)}/tools/${encodeURIComponent(tool)}`;
      const headers: Record<string, string> = isTyped ? { [typedHeader]: 'true' } : {};
      const question = { body: { arguments: args }, headers, signal };
      if (onEvent === undefined) return (await askHub(hub, path, question)) as unknown as ToolCallResponse;
      const onLine = (line: JsonObject): void => {
        const { event, ...params } = line;
        if (isEvent(event)) onEvent({ event, params });
      };
      const { event: _, ...answer } = await streamFromHub(hub, path, { ...question, accept: 'application/x-ndjson', onLine });
      return answer as unknown as ToolCallResponse;
    },
    close: async () => {},
  };
}

function isEvent(event: unknown): event is ToolEvent['event'] {
  return event === 'progress' || event === 'log';
}
