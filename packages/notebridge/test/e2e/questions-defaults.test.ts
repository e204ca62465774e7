import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAskingServer } from '../fixtures/servers/asks-server.mjs';
import { type AskedAgent, everyCapability, openAtHub, openOnStdio } from '../support/asked-agent.js';
import { bareEnvironment } from '../support/bare-environment.js';
import { coreAndDeep } from '../support/core-and-deep.js';
import { HttpUpstream } from '../support/http-upstream.js';
import { runProgram } from '../support/program.js';
import { installedServer, ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

const everything = installedServer('everything');
const asking = { command: process.execPath, args: [fixtureServer('asks.mjs'), 'legacy'] };

/** What the server lists to a client that can be asked everything, without a bridge between. */
async function toolsOf({ command, args }: { command?: unknown; args?: unknown }): Promise<string[]> {
  const client = new Client(
    { name: 'alone', version: '1' },
    { capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} } },
  );
  for (const method of ['elicitation/create', 'sampling/createMessage', 'roots/list'] as const)
    client.setRequestHandler(method, () => ({ roots: [], action: 'cancel' }) as never);
  await client.connect(new StdioClientTransport({ command: String(command), args: args as string[], stderr: 'ignore' }));
  const { tools } = await client.listTools();
  await client.close();
  return tools.map(({ name }) => name).sort();
}

describe('a server over HTTP that asks legacy clients by requests alone, and modern ones by answers', () => {
  let child: ChildProcess;
  let hub: ServedHub;
  beforeAll(async () => {
    child = spawn(process.execPath, [fixtureServer('conformance.mjs'), '0'], {
      env: bareEnvironment(),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [url] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
    hub = await ServedHub.start({ servers: { it: { url: String(url).trim() } }, args: ['--notebook', 'none'] });
  });
  afterAll(async () => {
    await hub[Symbol.asyncDispose]();
    child.kill();
    await once(child, 'close');
  });

  it('asks each agent in its own era, with no setting', { tags: ['P-672'] }, async () => {
    const legacy = await openAtHub(hub, {
      era: 'legacy',
      answer: () => ({ action: 'accept', content: { username: 'Ada', email: 'a@b.c' } }),
    });
    const modern = await openAtHub(hub, { era: 'modern' });
    const [pushed, answered] = await Promise.all([
      legacy.call('it__test_elicitation', { message: 'Who?' }),
      modern.call('it__test_input_required_result_elicitation'),
    ]);
    expect(pushed).toContain('action=accept, content={"username":"Ada"');
    expect(answered).toBe('Hello, Ada!');
    await Promise.all([legacy.close(), modern.close()]);
  });
});

describe('the one agent of "notebridge stdio"', () => {
  for (const { cells, tags } of coreAndDeep(['legacy', 'modern'] as const, (era) => era === 'legacy'))
    it.each(cells)(
      'of the %s era has all tools of a server that lists what its client can be asked',
      {
        tags: [...tags, 'P-673'],
      },
      async (era) => {
        const agent = await openOnStdio({ everything }, { era });
        const listed = (await agent.tools()).flatMap((name) =>
          name.startsWith('everything__') ? [name.slice('everything__'.length)] : [],
        );
        expect(listed.sort()).toEqual(await toolsOf(everything));
        expect(listed).toContain('trigger-elicitation-request');
        expect(await agent.call('everything__trigger-sampling-request', { prompt: 'x' })).toContain('hi');
        await agent.close();
      },
    );

  for (const { cells, tags } of coreAndDeep(['legacy', 'modern'] as const, (era) => era === 'modern'))
    it.each(cells)('of the %s era is asked, in calls at once too, and code is not', { tags: [...tags, 'P-673'] }, async (era) => {
      const agent = await openOnStdio({ asking }, { era });
      expect(await agent.call('asking__roots')).toBe('file:///ada');
      const calls = ['a', 'b', 'c'].map((question) => agent.call('asking__form', { question }));
      expect(await Promise.all(calls)).toEqual(['accept Ada', 'accept Ada', 'accept Ada']);
      expect(JSON.parse(await agent.call('asking__can'))).toMatchObject({ elicitation: { form: {} }, sampling: {} });
      await agent.close();
    });
});

describe('a hub with agents of several kinds', () => {
  let hub: ServedHub;
  let all: AskedAgent;
  let other: AskedAgent;
  let none: AskedAgent;
  beforeAll(async () => {
    const own = { ...everything, instances: 'per-agent' };
    const perAgent = (era: string) => ({ command: process.execPath, args: [fixtureServer('asks.mjs'), era], instances: 'per-agent' });
    const pushing = { command: process.execPath, args: [fixtureServer('conformance.mjs')] };
    const servers = { own, asking, pushing, legacy_own: perAgent('legacy'), modern_own: perAgent('modern') };
    hub = await ServedHub.start({ servers, args: ['--notebook', 'none'] });
    all = await openAtHub(hub, { era: 'legacy' });
    other = await openAtHub(hub, { era: 'modern' });
    none = await openAtHub(hub, { era: 'legacy', capabilities: {} });
  });
  afterAll(async () => {
    for (const agent of [all, other, none]) await agent.close();
    await hub[Symbol.asyncDispose]();
  });

  it('lists to each the tools that its own program has for it', { tags: ['P-674'] }, async () => {
    expect(await all.tools()).toContain('own__trigger-elicitation-request');
    expect(await none.tools()).not.toContain('own__trigger-elicitation-request');
    expect(await none.tools()).toContain('own__echo');
    expect(await all.call('own__trigger-sampling-request', { prompt: 'x' })).toContain('hi');
  });

  it('asks by a shared legacy server in the one call that runs; with two it is refused and said, and then they run in turn', {
    tags: ['P-675'],
  }, async () => {
    expect(await all.call('asking__form')).toBe('accept Ada');
    // Once it has asked, calls of those who can be asked wait for each other.
    const turns = await Promise.all([all, other, all].map((agent) => agent.call('asking__form')));
    expect(turns).toEqual(['accept Ada', 'accept Ada', 'accept Ada']);
    // Code cannot be asked, and does not wait.
    const [code, agent] = await Promise.all([hub.call('asking', 'form', {}, hub.ownerToken), all.call('asking__can')]);
    expect(code.answer.result).toMatch(/cancel|calls run on it at once/);
    expect(JSON.parse(agent)).toHaveProperty('roots');
  });

  it('says how to set up a tool that asks by requests alone, and doctor names it', { tags: ['deep', 'P-689'] }, async () => {
    for (const agent of [all, other]) {
      const text = await agent.call('pushing__test_elicitation', { message: 'Who?' });
      expect(text).toMatch(/In the config of this server write "era": "legacy" together with "instances": "per-agent"/);
    }
    // Noted beside the agent's answer.
    await expect.poll(() => readFileSync(join(hub.stateDir, 'server-eras.json'), 'utf8')).toContain('test_elicitation');
    const { stdout } = await runProgram(['doctor', '--json', '--port', '0', '--no-kernel', '--config', hub.configFile], { env: hub.env });
    const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string; found: string; next?: string }[] };
    expect(checks.find(({ name }) => name === 'server pushing')).toMatchObject({
      status: 'note',
      found: expect.stringContaining('"test_elicitation" failed'),
      next: expect.stringContaining('"era": "legacy"'),
    });
  });

  it('keeps the program of an agent that says of each call what it can be asked there', { tags: ['P-692'] }, async () => {
    const capabilities = [everyCapability, { elicitation: {} }, {}];
    const agents = await Promise.all(capabilities.map((each) => openAtHub(hub, { era: 'modern', name: 'one', capabilities: each })));
    const pids = async (server: string) => {
      const found: string[] = [];
      for (const agent of [...agents, ...agents]) found.push(await agent.call(`${server}__pid`));
      expect(found.slice(agents.length)).toEqual(found.slice(0, agents.length));
      return new Set(found).size;
    };
    expect([await pids('modern_own'), await pids('legacy_own')]).toEqual([1, agents.length]);
    for (const agent of agents) await agent.close();
  });
});

describe('a server over HTTP whose first call asks on no stream of a call', () => {
  it('asks the agent for whose session it is', { tags: ['deep', 'P-691'] }, async () => {
    const upstream = await HttpUpstream.serve('sessions', createAskingServer);
    const hub = await ServedHub.start({ servers: { it: { url: upstream.url } }, args: ['--notebook', 'none'] });
    for (const name of ['ada', 'bob', 'cleo']) {
      const agent = await openAtHub(hub, { era: 'legacy', name });
      expect(await agent.call('it__aside')).toBe('file:///ada');
      await agent.close();
    }
    await hub[Symbol.asyncDispose]();
    await upstream.stop();
  });
});

describe('what servers say of their use', () => {
  it('reaches agents under the name of the server, and a grant only if it may use all of it', { tags: ['deep', 'P-676'] }, async () => {
    const hub = await ServedHub.start({ servers: { everything }, args: ['--notebook', 'none'] });
    const instructionsFor = async (token: string): Promise<string> => {
      const body = {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
      };
      const answer = await hub.request('/mcp', { token, body, headers: { accept: 'application/json, text/event-stream' } });
      return await answer.text();
    };
    await hub.until(() => hub.log().length > 0);
    await openAtHub(hub, { era: 'legacy' }).then(async (agent) => {
      await agent.tools();
      await agent.close();
    });
    expect(await instructionsFor(hub.ownerToken)).toContain('The server \\"everything\\" says of its use:');
    const { token } = await hub.grant('--door', 'agent', '--allow', 'everything:echo');
    expect(await instructionsFor(token)).not.toContain('says of its use');
    await hub[Symbol.asyncDispose]();
  });
});
