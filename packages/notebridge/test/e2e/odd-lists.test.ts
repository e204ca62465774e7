// @module-tag P-669

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { modernVersion } from '../support/agents.js';
import { coreAndDeep } from '../support/core-and-deep.js';
import { expectedLists, startOddHub } from '../support/odd-hub.js';
import { programFile, runProgram } from '../support/program.js';
import type { ServedHub } from '../support/served-hub.js';

let hub: ServedHub;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ hub, close } = await startOddHub());
});
afterAll(() => close());

/** Of both SDKs, over both transports, in both eras. */
const clients: { name: string; connect: () => Promise<ClientV1 | ClientV2> }[] = [
  {
    name: 'SDK v1 over stdio',
    connect: async () => {
      const client = new ClientV1({ name: 'agent', version: '1' });
      const args = [programFile, '--standalone', '--config', hub.configFile, '--notebook', 'none'];
      await client.connect(new StdioV1({ command: process.execPath, args, env: hub.env, stderr: 'ignore' }));
      return client;
    },
  },
  {
    name: 'SDK v1 over HTTP',
    connect: async () => {
      const client = new ClientV1({ name: 'agent', version: '1' });
      await client.connect(
        new HttpV1(new URL(`${hub.url}/mcp`), { requestInit: { headers: { authorization: `Bearer ${hub.ownerToken}` } } }) as never,
      );
      return client;
    },
  },
  ...(['legacy', { pin: modernVersion }] as const).map((mode) => ({
    name: `SDK v2 over HTTP, ${typeof mode === 'string' ? mode : 'modern'}`,
    connect: async () => {
      const client = new ClientV2({ name: 'agent', version: '1' }, { versionNegotiation: { mode } });
      await client.connect(
        new HttpV2(new URL(`${hub.url}/mcp`), { requestInit: { headers: { authorization: `Bearer ${hub.ownerToken}` } } }),
      );
      return client;
    },
  })),
];

describe('servers with odd entries in all lists', () => {
  for (const { cells, tags } of coreAndDeep(clients, (_, index) => index % 3 === 0))
    it.each(cells)('cost $name those entries alone', { tags }, async ({ connect }) => {
      const client = await connect();
      const listed = {
        'tools/list': (await client.listTools()).tools.map(({ name }) => name).sort(),
        'prompts/list': (await client.listPrompts()).prompts.map(({ name }) => name),
        'resources/list': (await client.listResources()).resources.map(({ uri }) => uri),
        'resources/templates/list': (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
      };
      expect(listed).toEqual(expectedLists);
      // The client holds the answer against what was listed.
      for (const tool of ['odd__output-broken-pattern', 'odd__then'])
        expect(await client.callTool({ name: tool })).toMatchObject({ content: [{ text: tool.slice('odd__'.length) }] });
      await client.close();
    });

  it('are named in the log and by doctor, with the reasons', { tags: ['P-670'] }, async () => {
    const said = hub.log().map(({ msg }) => msg);
    expect(said).toContain(
      'Of "odd" is left out: tool "input-of-text", since its input schema is of the type "string", and arguments are an object.',
    );
    expect(said).toContain('Of "many" 9994 more entries of "tools/list" are left out.');
    const { ending, stdout } = await runProgram(['doctor', '--json', '--port', '0', '--no-kernel', '--config', hub.configFile]);
    const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string; found: string }[] };
    const found = (name: string) => checks.find((check) => check.name === name);
    expect(ending).toBe(1);
    expect(found('server odd')).toMatchObject({
      status: 'fault',
      found: expect.stringMatching(/tool "input-of-text", since .*; \d+ more$/),
    });
    expect(found('server many')).toMatchObject({ status: 'fault', found: expect.stringMatching(/tool 0, since .*; 9994 more$/) });
    expect(found('server fine')).toMatchObject({ status: 'ok', found: 'starts and lists 1 tools' });
  });
});
