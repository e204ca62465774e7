import { BridgeError, RemoteError } from '@notebridge/protocol/core/errors';
import { toTextResult } from '@notebridge/protocol/core/mcp';
import type { RunnableTool } from '@notebridge/protocol/core/memory-provider';
import type { JsonObject } from '@notebridge/protocol/json';

export interface TestTools {
  tools: RunnableTool[];
  /** Resolves when a call of `wait` runs. */
  waiting(): Promise<void>;
  /** Lets the calls of `wait` answer. */
  release(): void;
  /** Resolves with the reason when a call of `wait` was cancelled. */
  cancelled(): Promise<string>;
  /** How often `count` ran. */
  counted(): number;
}

const inputSchema = { type: 'object' };

/** Tools with which a test causes and sees what happens behind the proxy. */
export function createTestTools(): TestTools {
  let count = 0;
  const waiting = withWaiters<undefined>();
  const cancelled = withWaiters<string>();
  const releases = new Set<() => void>();
  const tool = (name: string, run: RunnableTool['run'], more: JsonObject = {}): RunnableTool => ({ name, inputSchema, ...more, run });
  const tools = [
    tool('hello', async ({ name = 'world' }) => toTextResult(`Hello, ${name}!`), {
      description: 'Greets.',
      outputSchema: { type: 'object' },
      annotations: { readOnlyHint: true },
    }),
    tool('arguments', async (args) => ({ content: [], structuredContent: args })),
    tool('result', async ({ result }) => result as JsonObject),
    tool('fail', async () => ({ ...toTextResult('It failed.'), isError: true })),
    tool('count', async () => toTextResult(`run ${++count}`)),
    tool('bridge_error', async ({ code, data = {} }) => {
      throw new BridgeError(code as 'timeout', `A ${code} happened.`, { data: data as JsonObject });
    }),
    tool('remote_error', async ({ code, data }) => {
      throw new RemoteError({ code, message: 'The server said no.', ...(data !== undefined && { data }) });
    }),
    tool('break', async () => {
      throw new TypeError('inner secret');
    }),
    tool('steps', async (_, context) => {
      context.forwardProgress({ progress: 1, total: 2, message: 'half' });
      context.log('info', { at: 'half' }, 'steps');
      context.forwardProgress({ progress: 2, total: 2 });
      return toTextResult('done');
    }),
    tool('wait', (args, context) => {
      waiting.tell(undefined);
      context.cancellation.onCancel(cancelled.tell);
      return new Promise((resolve) => releases.add(() => resolve(toTextResult(`waited ${JSON.stringify(args)}`))));
    }),
  ];
  return {
    tools,
    waiting: waiting.next,
    cancelled: cancelled.next,
    counted: () => count,
    release: () => {
      for (const release of releases) release();
      releases.clear();
    },
  };
}

/** Tells each happening to one who waits for it, whoever comes first. */
function withWaiters<Value>(): { tell(value: Value): void; next(): Promise<Value> } {
  const values: Value[] = [];
  const waiters: ((value: Value) => void)[] = [];
  return {
    tell: (value) => {
      const waiter = waiters.shift();
      if (waiter === undefined) values.push(value);
      else waiter(value);
    },
    next: () => new Promise((resolve) => (values.length > 0 ? resolve(values.shift() as Value) : waiters.push(resolve))),
  };
}
