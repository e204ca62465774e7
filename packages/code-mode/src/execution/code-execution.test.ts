import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { type ToolResult, toTextResult } from '@notebridge/protocol/core/mcp';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createContext } from '../../../notebridge/test/support/create-context.js';
import { CodeExecution } from './code-execution.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const question = { method: 'elicitation/create', params: { message: 'Which?' } };

it.each(['legacy', 'modern'] as const)(
  'waits no longer than it is told, but for an answer of a %s agent that was sent away',
  async (era) => {
    let answer: (answer: JsonObject) => void = () => {};
    const caller = { sessionId: 's', door: 'http', era, clientInfo: undefined } as const;
    const ask = () => new Promise<JsonObject>((resolve) => (answer = resolve));
    const context = createContext('tools/call', {}, { caller, requestId: 1, asker: { clientCapabilities: { elicitation: {} }, ask } });
    const execution = new CodeExecution({
      principalKey: 'owner',
      context,
      work: async ({ parent }) => {
        await Promise.resolve();
        const answered = await parent.asker?.ask?.('', question, { cancellation: new Cancellation(), timeoutMs: 1 });
        return toTextResult(JSON.stringify(answered));
      },
    });
    let waited: unknown = 'waits';
    const waiting = execution.wait(context, { seconds: 45, isFirst: true }).then((result) => {
      waited = result;
    });
    await vi.advanceTimersByTimeAsync(60_000);
    // An open request of the legacy era is answered by a run_id; the question goes on beside it.
    expect(waited).toBe(era === 'legacy' ? undefined : 'waits');
    answer({ action: 'accept' });
    await vi.advanceTimersByTimeAsync(1000);
    await waiting;
    expect(execution.result).toMatchObject({ content: [{ text: '{"action":"accept"}' }] });
    if (era === 'modern') expect(waited).toBe(execution.result);
  },
);

it('stops when the right of its caller ends, also once its call was answered', { tags: ['P-644'] }, async () => {
  const context = createContext('tools/call', {});
  const work = ({ signal }: CodeExecution) =>
    new Promise<ToolResult>((resolve) => signal.addEventListener('abort', () => resolve(toTextResult('stopped'))));
  const execution = new CodeExecution({ principalKey: 'grant:g_1', context, work });
  const waiting = execution.wait(context, { seconds: 1, isFirst: true });
  await vi.advanceTimersByTimeAsync(1000);
  expect(await waiting).toBeUndefined();
  context.cancellation.cancel('the session ended', { callerIsGone: true });
  expect(execution.signal.aborted).toBe(false);
  context.cancellation.withdraw(new BridgeError('bad_grant', 'It was revoked.'));
  await execution.ended;
  expect(execution.result).toMatchObject({ content: [{ text: 'stopped' }] });
});
