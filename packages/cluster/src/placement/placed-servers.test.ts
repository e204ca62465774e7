import type { Placement } from '@notebridge/protocol/core/tool-server';
import { afterEach, describe, expect, it } from 'vitest';
import type { ServerConfig } from '../../../notebridge/src/config/server-config.js';
import { createContext } from '../../../notebridge/test/support/create-context.js';
import { pauseProcess } from '../../../notebridge/test/support/pause-process.js';
import { type ServerHub, ServerHubs } from '../../../notebridge/test/support/server-hubs.js';
import { fixtureConfig, linesOf, temporaryPath } from '../../../notebridge/test/support/upstreams.js';

describe('servers of a cluster', () => {
  let cluster: ServerHubs;
  afterEach(() => cluster[Symbol.asyncDispose]());

  /** `speed`: for those that wait for the end of a lease. */
  const start = async (servers: (name: string) => ServerConfig[], speed = 1): Promise<{ a: ServerHub; b: ServerHub }> => {
    cluster = new ServerHubs(speed);
    const [a, b] = await cluster.add(['a', 'b'], servers);
    if (a === undefined || b === undefined) throw new Error('Not started.');
    return { a, b };
  };
  /** The hub that has the server, and the other. */
  const sides = async ({ a, b }: { a: ServerHub; b: ServerHub }): Promise<{ owner: ServerHub; other: ServerHub }> => {
    const isHeldBy = ({ claims }: ServerHub): boolean => claims.held('server.it')?.isHeld() === true;
    await Promise.race([a.until(() => isHeldBy(a)), b.until(() => isHeldBy(b))]);
    const [owner, other] = isHeldBy(a) ? [a, b] : [b, a];
    await other.until(() => other.claims.ownerOf('server.it')?.hub === owner.lease.self.id);
    return { owner, other };
  };

  it('are heard at the other hubs, also after the lease of one was lost', { tags: ['P-558'] }, async () => {
    const both = await start(() => [fixtureConfig('talks.mjs', [], { placement: 'one' })], 4);
    const { owner, other } = await sides(both);
    const talk = async (): Promise<number> => {
      const params = { name: 'talk', arguments: {} };
      await other.server('it').request('tools/call', params, createContext('tools/call', params));
      return other.events.filter((event) => event.kind === 'notification' && event.notification.method.startsWith('notifications/prompts'))
        .length;
    };
    await expect.poll(talk).toBeGreaterThan(0);
    const { epoch } = owner.claims.held('server.it') ?? {};
    await expect.poll(() => other.server('it').state.status).toBe('running');
    other.link.setCut(true);
    await other.until(() => !other.lease.isHeld());
    // How it was before is no state of now.
    expect(other.server('it').state.status).toBe('stopped');
    other.link.setCut(false);
    await other.until(() => other.lease.isHeld());
    await expect.poll(() => other.server('it').state.status).toBe('running');
    expect(owner.claims.held('server.it')?.epoch).toBe(epoch);
    other.events.length = 0;
    await expect.poll(talk).toBeGreaterThan(0);
  });

  it('run where their placement says, also after it was edited', { tags: ['P-605'] }, async () => {
    const placed = (placement: Placement) => [fixtureConfig('calls.mjs', ['-'], { placement })];
    const both = await start(() => placed('each'));
    const { a, b } = both;
    const edit = async (placement: Placement): Promise<void> => {
      await Promise.all([a, b].map(({ upstreams }) => upstreams.reconcile(placed(placement))));
      expect([a, b].map((hub) => hub.server('it').placement)).toEqual([placement, placement]);
    };
    const pids = (): (number | undefined)[] => [a, b].map((hub) => hub.local('it').state.pid);
    const isOne = async (): Promise<void> => {
      const { owner, other } = await sides(both);
      await owner.until(() => owner.local('it').status === 'running');
      await other.until(() => other.local('it').status === 'stopped');
      await other.until(() => other.server('it').status === 'running');
    };
    expect(pids()).not.toContain(undefined);
    await edit('one');
    await isOne();
    await edit('each');
    await Promise.all([a, b].map((hub) => hub.until(() => hub.local('it').status === 'running')));
    // The hub that had it gives it back, and the other hears of that.
    await a.until(() => a.claims.ownerOf('server.it') === undefined);
    await edit('one');
    await isOne();
  });

  it('stay with their hub when their program is another one', { tags: ['deep', 'P-605'] }, async () => {
    const programs = (version: string) => [fixtureConfig('changing.mjs', [version], { placement: 'one' })];
    const both = await start(() => programs('1'));
    const { owner, other } = await sides(both);
    await owner.until(() => owner.local('it').status === 'running');
    const { epoch } = owner.claims.held('server.it') ?? {};
    await owner.upstreams.reconcile(programs('2'));
    await other.upstreams.reconcile(programs('2'));
    await owner.until(() => owner.local('it').knownTools?.some(({ name }) => name === 'only_2') === true);
    expect(owner.claims.held('server.it')?.epoch).toBe(epoch);
    expect((await other.server('it').listTools()).map(({ name }) => name)).toContain('only_2');
    expect(other.local('it').status).toBe('stopped');
  });

  it('run once also while their hub ends: the next program begins when the last has ended', { tags: ['P-606'] }, async () => {
    const file = temporaryPath('lives');
    const { owner, other } = await sides(await start((name) => [fixtureConfig('ends-late.mjs', [file, name], { placement: 'one' })]));
    await owner.until(() => owner.local('it').status === 'running');
    const [first, second] = owner === cluster.hubs[0] ? ['a', 'b'] : ['b', 'a'];
    await owner.close();
    await other.until(() => other.local('it').status === 'running');
    expect(linesOf(file)).toEqual([`began ${first}`, `ended ${first}`, `began ${second}`]);
  });

  it('are listed for all that wait, also when the agent that asked first hangs up', { tags: ['deep'] }, async () => {
    const { a, b } = await start(() => [fixtureConfig('calls.mjs', ['-'], { placement: 'one', lazy: true })]);
    const pidOf = (): number => a.local('it').state.pid ?? 0;
    const started = a.server('it').start?.();
    await a.until(() => pidOf() !== 0);
    const pid = pidOf();
    // Before it has said anything.
    await pauseProcess(pid);
    expect(a.local('it').knownTools).toBeUndefined();
    await b.until(() => b.claims.ownerOf('server.it') !== undefined);
    await expect.poll(() => a.calls.servedCount).toBe(1);
    const [first, second] = [createContext('tools/list'), createContext('tools/list')];
    const lists = [first, second].map((context) => b.server('it').listTools(context));
    const settled = Promise.allSettled(lists);
    await expect.poll(() => a.calls.servedCount).toBe(2);
    first.cancellation.cancel('its agent is gone');
    // What came there before this was taken.
    await b.server('it').request('resources/list', {}, createContext('resources/list'));
    process.kill(pid, 'SIGCONT');
    await started;
    const [, listed] = await settled;
    expect(listed?.status === 'fulfilled' && listed.value.map(({ name }) => name)).toContain('echo');
  });

  it('keep what an agent has at their hub when another hub ends that the same agent had left', { tags: ['deep'] }, async () => {
    const { owner, other } = await sides(
      await start(() => [fixtureConfig('changing.mjs', ['1'], { placement: 'one', instances: 'per-agent' })], 4),
    );
    const call = async ({ placed }: ServerHub, name: string, args = {}): Promise<unknown> => {
      const params = { name, arguments: args };
      const { content } = (await placed.get('it')?.request('tools/call', params, createContext('tools/call', params))) ?? {};
      return (content as { text: string }[])[0]?.text;
    };
    expect(await call(other, 'become', { version: '2' })).toBe('2');
    await other.placed.endSession('test');
    expect(await call(owner, 'first')).toBe('1');
    expect(await call(owner, 'become', { version: '3' })).toBe('3');
    other.link.setCut(true);
    await owner.until(() => owner.lease.hubs().length === 1);
    expect(await call(owner, 'first')).toBe('3');
  });
});
