import type { Tool } from '../core/mcp.js';
import type { ToolServer } from '../core/tool-server.js';
import { settlesWithin } from '../util/settles-within.js';

export interface AskForToolsOptions {
  /** How long it is waited for, from when it was first asked by anybody, or began to start. Milliseconds. */
  waitMs: number;
  /** One that has failed is not asked again so soon. Milliseconds. Default 0: it is. */
  retryMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** The tools of a server; why it did not list them; or that it may yet. */
export type ToolsAsked = { tools: readonly Tool[] } | { failure: unknown } | 'waiting';

interface Asked {
  /** When the waiting for it began. It stays: a server that starts again and again is waited for once. */
  readonly since: number;
  listed: Promise<readonly Tool[]>;
  outcome: { tools: readonly Tool[] } | { failure: unknown; at: number } | undefined;
}

const asked = new WeakMap<ToolServer, Asked>();

/**
 * Asks a server whose tools were never listed, which may start it. All who ask wait together: one that is slow or hangs delays them once,
 * and after that nobody. Never rejects.
 */
export async function askForTools(server: ToolServer, { waitMs, retryMs = 0, signal }: AskForToolsOptions): Promise<ToolsAsked> {
  if (server.knownTools !== undefined) return { tools: server.knownTools };
  const of = ask(server, retryMs);
  // Not with the context of a call: what one caller cancels, the next ones wait for.
  const leftMs = of.since + waitMs - performance.now();
  if (of.outcome === undefined && leftMs > 0) await settlesWithin(of.listed, leftMs, signal);
  return of.outcome ?? 'waiting';
}

function ask(server: ToolServer, retryMs: number): Asked {
  const known = asked.get(server);
  const ended = known?.outcome;
  const isRecent = ended === undefined || ('at' in ended && performance.now() - ended.at < retryMs);
  if (known !== undefined && isRecent) return known;
  const { status, since } = server.state;
  const startedMs = status === 'starting' ? Math.max(0, Date.now() - since) : 0;
  const listed = server.listTools();
  const now: Asked = { since: known?.since ?? performance.now() - startedMs, listed, outcome: undefined };
  asked.set(server, now);
  listed.then(
    (tools) => {
      now.outcome = { tools };
    },
    (failure: unknown) => {
      now.outcome = { failure, at: performance.now() };
    },
  );
  return now;
}
