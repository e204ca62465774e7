import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { expect, it } from 'vitest';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

const servers = (name: string) => ({ [name]: { command: process.execPath, args: [fixtureServer('calls.mjs'), '${HOME}/count'] } });
const args = ['--notebook', 'none'];

it('several hubs of one user are told apart by name, and the end of one loses no other', { tags: ['P-699', 'P-700'] }, async () => {
  const hub = await ServedHub.start({ servers: servers('first'), args });
  const second = await ServedHub.start({ servers: servers('other'), args }, hub);
  const serversOf = async (...words: string[]): Promise<unknown> => {
    const { ending, stdout, stderr } = await hub.run('servers', '--json', ...words);
    return ending === 0 ? (JSON.parse(stdout) as { servers: JsonObject[] }).servers.map(({ name }) => name) : [ending, stderr];
  };
  try {
    expect(await serversOf('--hub', 'hub')).toEqual(['first']);
    expect(await serversOf('--hub', 'second')).toEqual(['other']);
    expect(await serversOf()).toEqual([
      2,
      `notebridge: Several hubs of yours run: "hub" (${hub.url}), "second" (${second.url}). Say which one you mean: --hub NAME\n`,
    ]);
    expect(await serversOf('--hub', 'third')).toEqual([2, expect.stringMatching(/called "third" runs; there is "hub" \(.*, "second" \(/)]);
    const { stdout } = await hub.run('ps', '--json');
    expect((JSON.parse(stdout) as { hosts: JsonObject[] }).hosts).toMatchObject([
      { kind: 'hub', name: 'hub', url: hub.url },
      { kind: 'hub', name: 'second', url: second.url },
    ]);
    await hub.stop();
    // Generated packages look for the file of a hub without a name of its own.
    expect([existsSync(join(hub.stateDir, 'hub.json')), existsSync(join(hub.stateDir, 'hub-second.json'))]).toEqual([false, true]);
    expect(await serversOf()).toEqual(['other']);
  } finally {
    await second[Symbol.asyncDispose]();
    await hub[Symbol.asyncDispose]();
  }
});
