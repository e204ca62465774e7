import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HubCluster } from '../support/hub-cluster.js';
import { natsProgram, whyNoNats } from '../support/nats.js';
import { runProgram } from '../support/program.js';
import { fixtureServer } from '../support/upstreams.js';

/** Text that runs backwards. The config takes no other such character in the name of a server. */
const evil = (name: string): string => `${name}\u202edcba`;
/** A line of its own, a title for the terminal, and colours as they are and in one byte. */
const evilHub = `${evil('hub')}\nFAKE\u001b]0;title\u0007\u001b[31m\u009b2J`;
// biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be there
const steering = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

describe.skipIf(natsProgram === undefined)(`hubs and servers with names that steer terminals${whyNoNats}`, () => {
  let cluster: HubCluster;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cluster-names-'));
    const command = { command: process.execPath, args: [fixtureServer('approvals.mjs'), 'none'] };
    cluster = await HubCluster.start({
      names: ['good', evilHub],
      servers: (name): Record<string, JsonObject> =>
        name === 'good'
          ? {}
          : { plain: { ...command, placement: 'one' }, [evil('one')]: { ...command, placement: 'one' }, [evil('own')]: command },
    });
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  it('are shown on one line, as text', { tags: ['P-581'] }, async () => {
    const config = join(folder, 'mcp.json');
    const servers = { plain: { command: process.execPath, args: ['-e', ''], placement: 'one' } };
    writeFileSync(
      config,
      JSON.stringify({ mcpServers: servers, notebridge: { cluster: { url: cluster.nats.urls, key: cluster.keyFile } } }),
    );
    const { env } = cluster.hub('good');
    const ps = () => runProgram(['ps', '--cluster', '--config', config]);
    await expect.poll(async () => (await ps()).stdout).toMatch(/one.*own/);
    for (const said of [
      await ps(),
      await runProgram(['status'], { env }),
      await runProgram(['doctor', '--no-kernel', '--port', '0', '--config', config]),
    ]) {
      expect(said.stdout).toContain('hub');
      expect(said.stdout + said.stderr).not.toMatch(/^ *FAKE/m);
      expect(said.stdout + said.stderr).not.toMatch(steering);
    }
  });
});
