// @module-tag deep
// @module-tag P-688

import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lockedPackages } from '../../../../scripts/locked-packages.mjs';
import { modernVersion } from '../support/agents.js';
import { everyCapability } from '../support/asked-agent.js';
import { programFile } from '../support/program.js';
import { installedServer, ServedHub } from '../support/served-hub.js';

interface Command {
  command: string;
  args: string[];
  env: Record<string, string>;
}
interface Agent {
  listTools(): Promise<{ tools: { name: string }[] }>;
  // biome-ignore lint/suspicious/noExplicitAny: the results of both SDKs are of other types than each other
  callTool(call: { name: string; arguments: JsonObject }): Promise<any>;
  close(): Promise<void>;
}

const timeout = 300_000;
const info = { name: 'agent', version: '1' };
const answers = {
  'elicitation/create': { action: 'accept', content: { name: 'Ann', check: true, email: 'ann@example.org', integer: 7 } },
  'sampling/createMessage': { model: 'm', role: 'assistant', content: { type: 'text', text: 'hi' } },
  'roots/list': { roots: [{ uri: 'file:///ada', name: 'ada' }] },
} as const;
const methods = Object.keys(answers) as (keyof typeof answers)[];

/** Answers whatever it is asked, by each generation of the SDK for TypeScript. */
function createV1(): ClientV1 {
  const client = new ClientV1(info, { capabilities: everyCapability });
  client.setRequestHandler(ElicitRequestSchema, () => answers['elicitation/create'] as never);
  client.setRequestHandler(CreateMessageRequestSchema, () => answers['sampling/createMessage'] as never);
  client.setRequestHandler(ListRootsRequestSchema, () => answers['roots/list'] as never);
  return client;
}

function createV2(mode: 'legacy' | { pin: string }): ClientV2 {
  const client = new ClientV2(info, { capabilities: everyCapability, versionNegotiation: { mode } });
  for (const method of methods) client.setRequestHandler(method, () => answers[method] as never);
  return client;
}

const generations = [
  {
    name: 'the SDK, version 1',
    isModern: false,
    onCommand: async (command: Command): Promise<Agent> => {
      const client = createV1();
      await client.connect(new StdioV1({ ...command, stderr: 'ignore' }));
      return client;
    },
    atHub: async (url: URL, headers: Record<string, string>): Promise<Agent> => {
      const client = createV1();
      await client.connect(new HttpV1(url, { requestInit: { headers } }) as never);
      return client;
    },
  },
  ...(['legacy', { pin: modernVersion }] as const).map((mode) => ({
    name: `the SDK, version 2, ${mode === 'legacy' ? mode : 'modern'}`,
    isModern: mode !== 'legacy',
    onCommand: async (command: Command): Promise<Agent> => {
      const client = createV2(mode);
      await client.connect(new StdioV2({ ...command, stderr: 'ignore' }));
      return client;
    },
    atHub: async (url: URL, headers: Record<string, string>): Promise<Agent> => {
      const client = createV2(mode);
      await client.connect(new HttpV2(url, { requestInit: { headers } }));
      return client;
    },
  })),
];

/** What an agent comes to with server-everything. */
async function tellStory(agent: Agent, prefix: string): Promise<JsonObject> {
  const call = async (name: string, args: JsonObject = {}): Promise<string> => {
    const { content } = await agent.callTool({ name: prefix + name, arguments: args });
    return (content as { text?: string }[]).map(({ text }) => text).join('\n');
  };
  const names = (await agent.listTools()).tools.map(({ name }) => name).filter((name) => name.startsWith(prefix));
  const story = {
    tools: names.map((name) => name.slice(prefix.length)).sort(),
    echo: await call('echo', { message: 'héllo' }),
    form: await call('trigger-elicitation-request'),
    sample: await call('trigger-sampling-request', { prompt: 'x' }),
    roots: await call('get-roots-list'),
  };
  await agent.close();
  return story;
}

const everything = installedServer('everything') as unknown as Omit<Command, 'env'>;
let hub: ServedHub;
let alone: JsonObject;
/** Of Notebridge itself, as the entry of an agent's host has it. */
let stdio: Command;
let remote: Command;
let inspector: { node: string; program: string };

beforeAll(async () => {
  const { node, modules } = await lockedPackages('agent-programs');
  inspector = { node, program: join(modules, '@modelcontextprotocol/inspector/clients/launcher/build/index.js') };
  hub = await ServedHub.start({ servers: { everything }, args: ['--notebook', 'none'] });
  stdio = {
    command: process.execPath,
    args: [programFile, 'stdio', '--standalone', '--notebook', 'none', '--config', hub.configFile],
    env: hub.env,
  };
  const header = ['--header', `Authorization: Bearer ${hub.ownerToken}`];
  remote = { command: node, args: [join(modules, 'mcp-remote/dist/proxy.js'), `${hub.url}/mcp`, ...header], env: hub.env };
  const [first] = generations;
  alone = await tellStory((await first?.onCommand({ ...everything, env: hub.env })) as Agent, '');
}, 600_000);
afterAll(() => hub[Symbol.asyncDispose]());

describe.each(generations)('$name for TypeScript, at server-everything with no setting', ({ onCommand, atHub, isModern }) => {
  it('has all tools, and is asked, over stdio as without a bridge', { timeout }, async () => {
    expect(await tellStory(await onCommand(stdio), 'everything__')).toEqual(alone);
    expect(alone).toMatchObject({
      form: expect.stringContaining('Name: Ann'),
      sample: expect.stringContaining('hi'),
      roots: expect.stringContaining('file:///ada'),
    });
  });

  it('has all tools, and is asked, over HTTP as without a bridge', { timeout }, async () => {
    const headers = { authorization: `Bearer ${hub.ownerToken}` };
    expect(await tellStory(await atHub(new URL(`${hub.url}/mcp`), headers), 'everything__')).toEqual(alone);
  });

  // It speaks the legacy era alone.
  if (!isModern)
    it('has all tools, and is asked, by mcp-remote as without a bridge', { timeout }, async () => {
      expect(await tellStory(await onCommand(remote), 'everything__')).toEqual(alone);
    });
});

describe('the Inspector, at server-everything with no setting', () => {
  const inspect = async (where: string[], ...words: string[]): Promise<JsonObject> => {
    const env = { ...hub.env, MCP_INSPECTOR_SECRET_STORE: 'memory' };
    const { stdout } = await promisify(execFile)(inspector.node, [inspector.program, '--cli', ...where, ...words], { env, timeout });
    return JSON.parse(stdout) as JsonObject;
  };
  const toolsAt = async (where: string[], prefix = ''): Promise<string[]> => {
    const { tools } = (await inspect(where, '--method', 'tools/list')) as { tools: { name: string }[] };
    return tools.map(({ name }) => name.slice(prefix.length)).sort();
  };
  let config: string;
  let places: Record<string, string[]>;
  beforeAll(() => {
    config = join(hub.home, 'inspector.json');
    writeFileSync(config, JSON.stringify({ mcpServers: { alone: everything, stdio: { ...stdio } } }));
    const header = ['--header', `Authorization: Bearer ${hub.ownerToken}`];
    places = {
      alone: ['--config', config, '--server', 'alone'],
      stdio: ['--config', config, '--server', 'stdio'],
      HTTP: ['--server-url', `${hub.url}/mcp`, '--transport', 'http', ...header],
    };
  });

  it.each(['stdio', 'HTTP'])('has all tools as without a bridge, and calls them, over %s', { timeout }, async (door) => {
    const where = places[door] ?? [];
    const [own, listed] = await Promise.all([toolsAt(places.alone ?? []), toolsAt(where, 'everything__')]);
    expect(listed).toEqual(door === 'stdio' ? own : expect.arrayContaining(own));
    const answer = await inspect(where, '--method', 'tools/call', '--tool-name', 'everything__echo', '--tool-arg', 'message=hello');
    expect(answer).toMatchObject({ content: [{ type: 'text', text: 'Echo: hello' }] });
  });
});
