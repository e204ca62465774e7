import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { gatherInput } from '../../bindings/input.js';
import { onToolsChanged, type ToolServers } from '../../core/tool-server.js';
import { printMessage } from '../../core/wire.js';
import { AsyncEvent } from '../../util/async-event.js';

/** How long servers may take that were never asked for their tools, and how long the hub waits for a change before it reports none. Milliseconds. */
const timeoutMs = 60_000;
const newsMs = 25_000;
/** Changes often come together. Milliseconds. */
const settleMs = 100;

/** What bindings are made from, with a tag that is another one when they would change. */
export interface BindingsInputAnswer {
  tag: string;
  input: unknown;
  warnings: string[];
  failed: number;
}

/**
 * Gathers what bindings are made from. `after`: the tag that the caller has; waits until it is another one, at most 25 s, so that a
 * command that keeps bindings up to date is notified of a change at once and asks seldom.
 */
export async function answerBindingsInput(
  servers: ToolServers,
  { socket, after }: { socket: Socket; after: string | null },
): Promise<BindingsInputAnswer> {
  // From before the first look, so that no change falls between a look and the wait.
  const changed = new AsyncEvent();
  const unsubscribe = onToolsChanged(servers, () => changed.set());
  const left = new AbortController();
  const leave = (): void => left.abort();
  socket.once('close', leave);
  try {
    const answer = await gather(servers);
    if (answer.tag !== after) return answer;
    if (await changed.wait(newsMs, left.signal)) await delay(settleMs);
    return await gather(servers);
  } finally {
    unsubscribe();
    // The connection is kept for further requests.
    socket.removeListener('close', leave);
  }
}

async function gather(servers: ToolServers): Promise<BindingsInputAnswer> {
  const { input, warnings, failed } = await gatherInput(servers, { hubUrl: undefined, timeoutMs });
  const tag = createHash('sha256').update(printMessage({ input, warnings })).digest('base64url');
  return { tag, input, warnings, failed };
}
