// @module-tag P-669

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { JsonObject } from '@notebridge/kit/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonWith, runPython } from '../../../../scripts/python-env.mjs';
import { type ListMethod, listMethods } from '../../src/core/list-methods.js';
import { modernVersion } from '../support/agents.js';
import { coreAndDeep } from '../support/core-and-deep.js';
import { oddItems, oddLists, oddTools, shownOf, validTools } from '../support/odd-entries.js';
import { programFile, runProgram } from '../support/program.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

const methods = Object.keys(listMethods) as ListMethod[];
const fine = { name: 'fine', inputSchema: { type: 'object' } };
const expected: Readonly<Record<ListMethod, readonly unknown[]>> = {
  'tools/list': [...[...shownOf(oddTools), ...validTools].map(({ name }) => `odd__${name}`), 'many__fine', 'fine__fine'].sort(),
  'prompts/list': shownOf(oddItems['prompts/list'])
    .map(({ name }) => `odd__${name}`)
    .sort(),
  'resources/list': shownOf(oddItems['resources/list']).map(({ uri }) => uri),
  'resources/templates/list': shownOf(oddItems['resources/templates/list']).map(({ uriTemplate }) => uriTemplate),
};

let folder: string;
let hub: ServedHub;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'notebridge-odd-'));
  const lists = Object.fromEntries(methods.map((method) => [method, { [listMethods[method].items]: oddLists[method], nextCursor: null }]));
  const many = { 'tools/list': { tools: [...Array.from({ length: 9999 }, (_, at) => ({ name: at, inputSchema: at })), fine] } };
  const servers = {
    odd: lister('odd', lists),
    many: lister('many', {
      ...many,
      'prompts/list': { prompts: [] },
      'resources/list': { resources: [] },
      'resources/templates/list': { resourceTemplates: [] },
    }),
    fine: lister('fine', { 'tools/list': { tools: [fine] } }),
  };
  hub = await ServedHub.start({ servers, args: ['--notebook', 'none'] });
});
afterAll(async () => {
  await hub[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

function lister(name: string, lists: JsonObject): JsonObject {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify(lists));
  return { command: process.execPath, args: [fixtureServer('lists.mjs'), file] };
}

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
  it.each(clients)('cost $name those entries alone', async ({ connect }) => {
    const client = await connect();
    const listed = {
      'tools/list': (await client.listTools()).tools.map(({ name }) => name).sort(),
      'prompts/list': (await client.listPrompts()).prompts.map(({ name }) => name),
      'resources/list': (await client.listResources()).resources.map(({ uri }) => uri),
      'resources/templates/list': (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    };
    expect(listed).toEqual(expected);
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

  const sdks = [
    { version: 1, environment: 'older' },
    { version: 2, environment: 'agents' },
  ];
  for (const { cells, tags } of coreAndDeep(sdks, ({ version }) => version === 2))
    it.each(cells)(
      'cost the SDK for Python, version $version, those entries alone',
      { timeout: 300_000, tags },
      async ({ environment }) => {
        const python = await pythonWith(['mcp'], { environment });
        const client = fileURLToPath(new URL('../fixtures/clients/all_lists.py', import.meta.url));
        const program = [process.execPath, programFile, '--standalone', '--config', hub.configFile, '--notebook', 'none'];
        const variables = Object.entries(hub.env).map(([name, value]) => `${name}=${value}`);
        const printed = await runPython(python, [client, 'env', 'odd__output-broken-pattern', '-i', ...variables, ...program]);
        const report = JSON.parse(printed) as Record<string, unknown>;
        expect(report).toEqual({ ...expected, answer: 'output-broken-pattern' });
      },
    );
});
