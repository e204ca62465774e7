import { describe, expect, it, vi } from 'vitest';
import type { BoundCall } from './request-state.js';

const call: BoundCall = {
  server: 's',
  method: 'tools/call',
  params: { name: 't', arguments: { a: 1 } },
  context: { caller: { sessionId: 'x', door: 'http', era: 'modern', clientInfo: undefined } },
};

/** As another process has it. */
async function loadAnew(): Promise<typeof import('./request-state.js')> {
  vi.resetModules();
  return import('./request-state.js');
}

describe('the requestState of a call that waits', () => {
  it('is worth nothing in another process, and names no hub where there is no cluster', async () => {
    const [one, two] = [await loadAnew(), await loadAnew()];
    const state = one.signState('id-1', call);
    expect(one.readState(state, call)).toBe('id-1');
    expect(two.readState(state, call)).toBeUndefined();
    expect(one.hubOfState(state, call.context)).toBeUndefined();
  });

  it('says in a cluster which hub has parked it, and is told there from one of another call, caller, hub or cluster', {
    tags: ['P-561'],
  }, async () => {
    const [one, two, other] = [await loadAnew(), await loadAnew(), await loadAnew()];
    const clusterKey = Buffer.alloc(32, 7);
    one.signStatesAsHub({ clusterKey, hubId: () => 'hub one.1~x' });
    two.signStatesAsHub({ clusterKey, hubId: () => 'two' });
    other.signStatesAsHub({ clusterKey: Buffer.alloc(32, 8), hubId: () => 'hub one.1~x' });
    const state = one.signState('id-1', call);
    expect(two.hubOfState(state, call.context)).toBe('hub one.1~x');
    expect(other.hubOfState(state, call.context)).toBeUndefined();
    for (const principal of [{ kind: 'anonymous' }, { kind: 'grant', grantId: 'g' }] as const)
      expect(two.hubOfState(state, { caller: { ...call.context.caller, principal } })).toBeUndefined();
    const [id, hub, tag = ''] = (state.split('.')[0] ?? '').split('~');
    const made = [`${id}~${hub}.xyz`, `${id}~${hub}~${'x'.repeat(16)}.xyz`, `other~${hub}~${tag}.xyz`, `${id}~dHdv~${tag}.xyz`];
    for (const each of made) expect([each, two.hubOfState(each, call.context)]).toEqual([each, undefined]);
    expect(one.readState(state, call)).toBe('id-1');
    expect(two.readState(state, call)).toBe('id-1');
    expect(other.readState(state, call)).toBeUndefined();
    expect(one.readState(state, { ...call, params: { name: 't', arguments: { a: 2 } } })).toBeUndefined();
    const [, mac] = state.split('.');
    expect(one.readState(`id-1~${Buffer.from('two').toString('base64url')}.${mac}`, call)).toBeUndefined();
  });

  it.each([undefined, 7, '', '~', 'a~', '~b.c', 'a.b', `a~${'x'.repeat(500)}.c`, `a~b~${'x'.repeat(16)}.c`])(
    'is of no hub: %j',
    async (state) => {
      expect((await loadAnew()).hubOfState(state, call.context)).toBeUndefined();
    },
  );
});
