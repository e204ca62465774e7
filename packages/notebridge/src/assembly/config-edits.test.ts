import { BridgeError } from '@notebridge/protocol/core/errors';
import { expect, it } from 'vitest';
import type { Config } from '../config/config.js';
import type { ServerConfig } from '../config/server-config.js';
import { HubMetrics } from '../telemetry/hub-metrics.js';
import { ConfigEdits } from './config-edits.js';

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

const configOf = (...servers: Config['servers']): Config => ({ servers }) as Partial<Config> as Config;

it('tells the owner what the last edit did to each server, and with its line why one is not used', { tags: ['P-502'] }, () => {
  const edits = new ConfigEdits();
  let told = 0;
  edits.subscribe(() => told++);
  const before = configOf(server('kept'), server('gone'), server('other'), server('changed'));
  const after = configOf(server('kept'), server('other', { args: ['x'] }), server('changed', { timeoutMs: 7 }), server('new'));
  edits.noteUsed(after, before, ['notebridge.audit']);
  expect(edits.edit).toMatchObject({
    added: ['new'],
    removed: ['gone'],
    restarted: ['other'],
    changed: ['changed'],
    late: ['notebridge.audit'],
  });
  const faults = [{ line: 3, key: 'mcpServers.a', found: 'is odd', next: 'Fix it.' }];
  edits.noteRefused(new BridgeError('bad_config', 'F:3: odd', { data: { file: 'F', faults } }));
  expect(edits.refused).toMatchObject({ message: 'F:3: odd', file: 'F', faults });
  edits.noteMended();
  expect([edits.refused, told]).toEqual([undefined, 3]);
});

it('metrics say while the file cannot be used', { tags: ['P-736'] }, async () => {
  const edits = new ConfigEdits();
  const metrics = new HubMetrics({
    servers: { all: () => [], get: () => undefined } as never,
    countApprovals: () => 0,
    listGrants: () => [],
    edits,
    version: '0',
  });
  const read = async () => (await metrics.scrape()).match(/^notebridge_config_refused .*$/gm);
  expect(await read()).toEqual(['notebridge_config_refused 0']);
  edits.noteRefused(new BridgeError('bad_config', 'F:3: odd', { data: { file: 'F' } }));
  expect(await read()).toEqual(['notebridge_config_refused 1']);
  edits.noteMended();
  expect(await read()).toEqual(['notebridge_config_refused 0']);
});
