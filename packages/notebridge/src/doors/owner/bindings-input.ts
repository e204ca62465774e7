import { createHash } from 'node:crypto';
import { gatherInput } from '@notebridge/code-mode/bindings/input';
import { onToolsChanged, type ToolServers } from '@notebridge/protocol/core/tool-server';
import { printMessage } from '@notebridge/protocol/core/wire';
import type { HttpContext } from '../http/http-context.js';
import { awaitNews } from './await-news.js';
import type { OwnerBody } from './owner-schemas.js';

/** How long servers may take that were never asked for their tools. Milliseconds. */
const timeoutMs = 60_000;

/**
 * Gathers what bindings are made from, with a tag that is another one when they would change. `after` in the query: the tag that the caller
 * has; waits until it is another one.
 */
export function answerBindingsInput(servers: ToolServers, { request, query }: HttpContext): Promise<OwnerBody<'BindingsInput'>> {
  const after = query.get('after');
  return awaitNews(request.socket, {
    subscribe: (listener) => onToolsChanged(servers, listener),
    look: () => gather(servers),
    isNews: ({ tag }) => tag !== after,
  });
}

async function gather(servers: ToolServers): Promise<OwnerBody<'BindingsInput'>> {
  const { input, warnings, failed } = await gatherInput(servers, { hubUrl: undefined, timeoutMs });
  const tag = createHash('sha256').update(printMessage({ input, warnings })).digest('base64url');
  return { tag, input, warnings, failed };
}
