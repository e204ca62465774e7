import type { Caller } from '@notebridge/protocol/core/call-context';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createContext } from '../../../notebridge/test/support/create-context.js';
import { CodeSessions } from './code-sessions.js';
import { KernelPool } from './kernel-pool.js';

const of = (more: Partial<Caller>): { caller: Caller } => ({ caller: { ...createContext('tools/call', {}).caller, ...more } });

describe('CodeSessions', () => {
  let pool: KernelPool;
  let sessions: CodeSessions;
  beforeEach(() => {
    // None is started here.
    pool = new KernelPool({
      create: () => Promise.reject(new Error('not here')),
      ...{ most: 4, isShared: false },
      makeRoom: (holder) => sessions.endIdlest(holder),
    });
    sessions = new CodeSessions({ pool, idleMs: 20 });
  });
  afterEach(async () => {
    sessions.close();
    await pool.close();
  });

  it("is the agent's own, or one for each call where the door has none", () => {
    const own = sessions.find(undefined, of({ sessionId: 'a', door: 'stdio', era: 'modern' }));
    expect(sessions.find(undefined, of({ sessionId: 'a', door: 'stdio', era: 'modern' }))).toBe(own);
    expect(sessions.find(undefined, of({ sessionId: 'b', door: 'stdio', era: 'modern' }))).not.toBe(own);
    const without = of({ sessionId: 'c', door: 'http', era: 'modern' });
    const one = sessions.find(undefined, without);
    expect(sessions.find(undefined, without)).not.toBe(one);
    expect(sessions.find(one.handle, without)).toBe(one);
    const stranger = of({ sessionId: 'c', principal: { kind: 'grant', grantId: 'g_1' } });
    expect(() => sessions.find(one.handle, stranger)).toThrow(expect.objectContaining({ code: 'session_gone' }));
  });

  it('ends what nobody uses: a handle is gone, and an agent of its own session is told that its variables are', async () => {
    const own = sessions.find(undefined, of({ sessionId: 'a', door: 'stdio' }));
    const without = of({ sessionId: 'c', door: 'http', era: 'modern' });
    const one = sessions.find(undefined, without);
    for (const session of [own, one]) session.kernel = await pool.take({ holder: 'owner' });
    await vi.waitUntil(() => own.kernel === undefined && one.kernel === undefined, { timeout: 45_000 });
    expect(sessions.find(undefined, of({ sessionId: 'a', door: 'stdio' }))).toMatchObject({
      handle: own.handle,
      hasLost: true,
    });
    expect(() => sessions.find(one.handle, without)).toThrow(expect.objectContaining({ code: 'session_gone' }));
  });

  it('keeps what runs, and lets only so many wait', async () => {
    const session = sessions.find('new', of({ sessionId: 'a', door: 'stdio' }));
    session.kernel = await pool.take({ holder: 'owner' });
    let end = (): void => {};
    const first = sessions.run(
      session,
      () =>
        new Promise<void>((resolve) => {
          end = resolve;
        }),
    );
    const others = Array.from({ length: 15 }, (_, n) => sessions.run(session, async () => n));
    await expect(sessions.run(session, async () => 0)).rejects.toMatchObject({ code: 'limit_reached' });
    expect(await sessions.endIdlest()).toBe(false);
    end();
    await first;
    expect(await Promise.all(others)).toEqual(others.map((_, n) => n));
    expect(await sessions.endIdlest()).toBe(true);
  });
});
