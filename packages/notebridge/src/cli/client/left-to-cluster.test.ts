import { expect, it } from 'vitest';
import type { Config } from '../../config/config.js';
import type { ServerConfig } from '../../config/server-config.js';
import { findCheckOfOne } from '../doctor/check-servers.js';
import { leaveToCluster } from './left-to-cluster.js';

const server = (name: string, more: object = {}): ServerConfig =>
  ({
    name,
    transport: 'stdio',
    command: 'runs',
    args: [],
    env: {},
    placement: 'each',
    disabled: false,
    expose: 'direct',
    ...more,
  }) as Partial<ServerConfig> as ServerConfig;

const servers = [server('one', { placement: 'one' }), server('each')];
const configOf = (cluster?: object): Config => ({ servers, cluster }) as Partial<Config> as Config;

it('a command starts no server of which a cluster has one, and says who has it', { tags: ['P-585'] }, async () => {
  const left = leaveToCluster(configOf({ name: 'c' }));
  expect(left.config.servers.map(({ name, disabled }) => [name, disabled])).toEqual([
    ['one', true],
    ['each', false],
  ]);
  expect(() => left.assertNotOne('one')).toThrow('The cluster "c" has one server "one", which a hub of it runs: it is not started here.');
  expect(() => left.assertNotOne('each')).not.toThrow();
  const report = { name: 'one', status: 'disabled' } as Parameters<typeof left.describe>[0];
  expect(left.describe(report)).toMatchObject({ status: 'stopped', reason: expect.stringContaining('which a hub of it runs') });
  expect(leaveToCluster(configOf()).config.servers.map(({ disabled }) => disabled)).toEqual([false, false]);
});

it('doctor says of such a server which hub has it and how it is, or that none has', { tags: ['P-585'] }, async () => {
  const hub = { name: 'hub-a', has: [{ kind: 'server', name: 'one', about: { status: 'failed' } }] };
  const seen = { isNamed: true, hubs: [hub] as unknown as Parameters<typeof findCheckOfOne>[0]['hubs'] };
  const check = (await findCheckOfOne(seen)) ?? expect.fail();
  const [one, each] = servers as [(typeof servers)[number], (typeof servers)[number]];
  expect(check(one)).toMatchObject({ status: 'fault', found: expect.stringMatching(/^the hub "hub-a" of the cluster has it: failed/) });
  expect(check(each)).toMatchObject({ status: 'note', found: expect.stringMatching(/^no hub of the cluster has it just now/) });
});
