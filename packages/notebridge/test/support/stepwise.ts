import { toTextResult } from '@notebridge/protocol/core/mcp';
import type { RunnableTool } from '@notebridge/protocol/core/memory-provider';
import { expect } from 'vitest';
import { EventReader, type LegacySession, type McpHttpOptions, type OpenMcpHttp, openMcpHttp } from './mcp-http.js';

export interface OpenSteps extends OpenMcpHttp {
  /** Lets each running call of `stepwise` go on: another step, or its answer. */
  step(): void;
  answer(text?: string): void;
}

/** With a tool that goes on when the test says so. */
export async function openStepwise(options: McpHttpOptions = {}): Promise<OpenSteps> {
  const running = new Set<{ step(): void; answer(text: string): void }>();
  const stepwise: RunnableTool = {
    name: 'stepwise',
    inputSchema: { type: 'object' },
    run: ({ name = '' }, context) => {
      let progress = 0;
      const step = (): void => context.forwardProgress({ progress: ++progress, message: String(name) });
      return new Promise((resolve) => {
        const answer = (text: string): void => resolve(toTextResult(`${name}${text}`));
        const self = { step, answer };
        running.add(self);
        context.cancellation.onCancel(() => running.delete(self));
        step();
      });
    },
  };
  const open = await openMcpHttp({ ...options, tools: [stepwise, ...(options.tools ?? [])] });
  return {
    ...open,
    step: () => {
      for (const each of running) each.step();
    },
    answer: (text = '') => {
      for (const each of running) each.answer(text);
      running.clear();
    },
  };
}

/** A call that has shown its first step. */
export async function startCall(session: LegacySession, id: unknown, name = ''): Promise<EventReader> {
  const reader = new EventReader(await session.call('stepwise', { name }, { progressToken: 't' }, id));
  expect(await reader.next()).toMatchObject({ method: 'notifications/progress', params: { progress: 1 } });
  return reader;
}

/** Goes on with the stream of that event. */
export const resume = (session: LegacySession, eventId = ''): Promise<EventReader> => session.listen({ 'last-event-id': eventId });
/** How a resumption is answered. */
export const statusOf = async (session: LegacySession, eventId: string, headers = {}): Promise<number> => {
  const response = await session.get({ 'last-event-id': eventId, ...headers });
  await response.body?.cancel();
  return response.status;
};
