import { NotStarted } from '@notebridge/cluster/cluster-parts';
import { answer } from '@notebridge/protocol/core/middleware';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { createCallingHubs } from '../../../test/support/calling-hubs.js';
import { createContext } from '../../../test/support/create-context.js';
import { createStateRouter } from './state-router.js';

/** Calls of hub a's agents with what hub b has parked. */
function createRoutedHubs() {
  const hubs = createCallingHubs();
  const { a, b, time } = hubs;
  const request = async ({ message }: { message: JsonObject }): Promise<JsonObject> => ({ at: 'b', message });
  createStateRouter({ calls: b.calls, whereIs: () => 'here', request });
  const { middleware } = createStateRouter({ calls: a.calls, whereIs: () => ({ id: 'b' }), request });
  const call = async (method: string): Promise<JsonObject> => {
    const context = createContext(method, { requestState: 'parked~Yg.mac' });
    const answered = middleware.onRequest?.(context, async () => answer({ at: 'a' }));
    return time.until(answered ?? Promise.reject(new Error('It takes no requests.')));
  };
  return { ...hubs, call };
}

describe('createStateRouter', () => {
  it('has a call go on where it waits, and no other method', async () => {
    const { call } = createRoutedHubs();
    expect(await call('tools/call')).toMatchObject({ at: 'b', message: { requestState: 'parked~Yg.mac' } });
    expect(await call('tools/list')).toEqual({ at: 'a' });
  });

  it('says of a hub that drains that the cluster takes nothing just now', { tags: ['P-603'] }, async () => {
    const { b, call } = createRoutedHubs();
    void b.calls.drain();
    await expect(call('tools/call')).rejects.toMatchObject({
      code: 'cluster_unavailable',
      message: expect.stringContaining('draining'),
      cause: expect.any(NotStarted),
    });
  });

  it('says so, too, where nothing reaches that hub', { tags: ['P-603'] }, async () => {
    const { a, call } = createRoutedHubs();
    a.connection.setConnected(false);
    await expect(call('tools/call')).rejects.toMatchObject({
      code: 'cluster_unavailable',
      message: expect.stringContaining('unreachable'),
    });
  });
});
